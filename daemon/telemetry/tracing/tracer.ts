/** Creates spans and passes the current one on through asynchronous calls. Loaded only if traces are enabled. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { Logger } from '../../logging/logger.ts'
import type { Attributes, FinishedSpan, SpanKind } from './finished-span.ts'
import { createSampler, type Sampler } from './sampler.ts'
import { createSpanExporter, type SpanExporter } from './span-exporter.ts'
import type { TraceSettings } from './trace-settings.ts'
import { formatTraceparent, parseTraceparent, type SpanContext, type TraceHeaders } from './traceparent.ts'

interface SpanOptions {
  attributes?: Attributes
  /** The headers of an incoming request. */
  parent?: TraceHeaders
  isRoot?: boolean
}

const getTime = (): number => performance.timeOrigin + performance.now()

export class Span {
  readonly context: SpanContext
  readonly #exporter: SpanExporter
  readonly #start: Pick<FinishedSpan, 'parentSpanId' | 'name' | 'kind' | 'attributes'>
  readonly #startedAt = getTime()

  constructor(context: SpanContext, exporter: SpanExporter, start: Pick<FinishedSpan, 'parentSpanId' | 'name' | 'kind' | 'attributes'>) {
    this.context = context
    this.#exporter = exporter
    this.#start = start
  }

  /** Must be called once. `error` is a code, never a message: messages can contain texts of users. */
  end(attributes: Attributes, error: string | undefined): void {
    if (!this.context.isSampled) return
    this.#exporter.add({
      ...this.context,
      ...this.#start,
      attributes: { ...this.#start.attributes, ...attributes },
      startedAt: this.#startedAt,
      endedAt: getTime(),
      error,
    })
  }
}

export class Tracer {
  readonly #storage = new AsyncLocalStorage<Span>()
  readonly #exporter: SpanExporter
  readonly #sampler: Sampler
  readonly #isPropagated: boolean

  constructor(settings: TraceSettings, version: string, logger: Logger) {
    this.#exporter = createSpanExporter(settings, version, logger)
    this.#sampler = createSampler(settings.sampler, settings.ratio)
    this.#isPropagated = settings.isPropagated
  }

  startSpan(name: string, kind: SpanKind, { attributes = {}, parent, isRoot = false }: SpanOptions = {}): Span {
    const remote = parent && this.#isPropagated ? parseTraceparent(parent) : undefined
    const above = parent ? remote : isRoot ? undefined : this.#storage.getStore()?.context
    const traceId = above?.traceId ?? randomBytes(16).toString('hex')
    const isSampled = remote || !above ? this.#sampler(traceId, remote?.isSampled) : above.isSampled
    const context = { traceId, spanId: randomBytes(8).toString('hex'), isSampled, traceState: above?.traceState }
    return new Span(context, this.#exporter, { parentSpanId: above?.spanId, name, kind, attributes })
  }

  run<T>(span: Span | undefined, work: () => T): T {
    return span ? this.#storage.run(span, work) : work()
  }

  /** The headers for a request to another service. */
  getHeaders(): Readonly<Record<string, string>> {
    const context = this.#isPropagated ? this.#storage.getStore()?.context : undefined
    return context ? formatTraceparent(context) : {}
  }

  get counts(): Record<string, number> {
    return this.#exporter.counts
  }

  /** Sends the remaining spans. */
  close(): Promise<void> {
    return this.#exporter.close()
  }
}
