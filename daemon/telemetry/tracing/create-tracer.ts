/** Creates the tracer with its exporter and sampler. */
import type { Logger } from '../../logging/logger.ts'
import { createSampler } from './sampler.ts'
import { SpanExporter } from './span-exporter.ts'
import type { TraceSettings } from './trace-settings.ts'
import { Tracer } from './tracer.ts'

export function createTracer(settings: TraceSettings, version: string, logger: Logger): Tracer {
  const { sampler, ratio, isPropagated } = settings
  return new Tracer(new SpanExporter(settings, version, logger), createSampler(sampler, ratio), isPropagated)
}
