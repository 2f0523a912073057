/** Measures operations: each is counted and timed for the metrics and, if traces are enabled, recorded as a span. */
import { CadreError } from '../../src/contract/errors.ts'
import { type Counter, type Histogram, MetricRegistry } from './metrics.ts'
import { addProcessMetrics } from './process-metrics.ts'
import type { Attributes, SpanKind } from './tracing/finished-span.ts'
import type { Span, Tracer } from './tracing/tracer.ts'

/** The labels of each operation, in the order of the values given to `start`; all have values from a fixed set. */
const OPERATIONS = {
  reply: { help: 'Duration of replies by how they ended.', labels: [], spanKind: 'internal' },
  provider_call: { help: 'Duration of calls of model providers, with retries.', labels: ['provider', 'kind'], spanKind: 'client' },
  tool_call: { help: 'Duration of tool calls in replies.', labels: ['kind'], spanKind: 'internal' },
  search: { help: 'Duration of searches.', labels: ['method'], spanKind: 'internal' },
  sync: { help: 'Duration of syncs.', labels: ['scope'], spanKind: 'internal' },
  webhook_delivery: { help: 'Duration of attempts to deliver an event to a webhook.', labels: [], spanKind: 'client' },
} as const satisfies Record<string, { help: string; labels: readonly string[]; spanKind: SpanKind }>

type OperationName = keyof typeof OPERATIONS

interface OperationOptions {
  /** Values of the labels of the metric. */
  labels?: readonly string[]
  /** Name of the span, if it says more than the name of the operation. */
  spanName?: string
  /** Attributes of the span. They never contain texts of users or models. */
  attributes?: Attributes
  /** Starts a trace of its own, for background work. */
  isRoot?: boolean
}

interface MeasureOptions<T> extends OperationOptions {
  /** An operation that fails after its signal was aborted has the outcome `aborted`. */
  signal?: AbortSignal | undefined
  /** How the operation ended, if it did not throw. Default: success. */
  getOutcome?(result: T): string
}

export class Telemetry {
  readonly #registry = new MetricRegistry()
  readonly #durations: Record<OperationName, Histogram>
  readonly #requests: Histogram
  readonly #tokens: Counter
  readonly #queues: Record<string, () => number | Promise<number>> = {}
  readonly tracer: Tracer | undefined

  constructor({ tracer, version = '' }: { tracer?: Tracer | undefined; version?: string } = {}) {
    this.tracer = tracer
    const registry = this.#registry
    registry.addCollected('gauge', 'cadre_info', 'Version of Cadre.', 'version', async () => ({ [version]: 1 }))
    const requestHelp = 'Duration of requests, with streamed responses.'
    this.#requests = registry.createHistogram('cadre_http_request_duration_seconds', requestHelp, ['method', 'route', 'status'])
    this.#durations = Object.fromEntries(
      Object.entries(OPERATIONS).map(([name, { help, labels }]) => [
        name,
        registry.createHistogram(`cadre_${name}_duration_seconds`, help, [...labels, 'outcome']),
      ]),
    ) as Record<OperationName, Histogram>
    this.#tokens = registry.createCounter('cadre_model_tokens_total', 'Model tokens of calls that ended.', ['kind', 'direction'])
    registry.addCollected('gauge', 'cadre_queue_length', 'Waiting or running jobs.', 'queue', () => this.#countJobs())
    if (tracer) registry.addCollected('counter', 'cadre_spans_total', 'Spans by what became of them.', 'outcome', async () => tracer.counts)
    addProcessMetrics(registry)
  }

  /** The metrics in Prometheus' text format. */
  formatMetrics(): Promise<string> {
    return this.#registry.format()
  }

  observeRequest(method: string, route: string, status: string, seconds: number): void {
    this.#requests.observe([method, route, status], seconds)
  }

  countTokens(kind: string, { input_tokens, output_tokens }: { input_tokens: number; output_tokens: number }): void {
    this.#tokens.add([kind, 'input'], input_tokens)
    this.#tokens.add([kind, 'output'], output_tokens)
  }

  /** The length of a queue is read with the metrics. */
  addQueue(name: string, count: () => number | Promise<number>): void {
    this.#queues[name] = count
  }

  start(name: OperationName, { labels = [], spanName = name, attributes = {}, isRoot = false }: OperationOptions = {}): Operation {
    const span = this.tracer?.startSpan(spanName, OPERATIONS[name].spanKind, { attributes, isRoot })
    return createOperation(this.#durations[name], labels, this.tracer, span)
  }

  async measure<T>(name: OperationName, { signal, getOutcome, ...options }: MeasureOptions<T>, work: () => Promise<T>): Promise<T> {
    const operation = this.start(name, options)
    try {
      const result = await operation.run(work)
      operation.end(getOutcome?.(result) ?? 'success')
      return result
    } catch (error) {
      operation.fail(error, signal)
      throw error
    }
  }

  /** The headers that continue the current trace in another service; empty if traces are not enabled. */
  readonly getTraceHeaders = (): Readonly<Record<string, string>> => this.tracer?.getHeaders() ?? NO_HEADERS

  /** Sends the remaining spans. */
  async close(): Promise<void> {
    await this.tracer?.close()
  }

  /** A queue that cannot be read is missing; the other metrics are still returned. */
  async #countJobs(): Promise<Record<string, number>> {
    const counts = await Promise.all(
      Object.entries(this.#queues).map(async ([name, count]) => [name, await Promise.resolve(count()).catch(() => undefined)] as const),
    )
    return Object.fromEntries(counts.filter((entry): entry is [string, number] => entry[1] !== undefined))
  }
}

const NO_HEADERS: Readonly<Record<string, string>> = {}

export function createOperation(duration: Histogram, labels: readonly string[], tracer: Tracer | undefined, span: Span | undefined) {
  const startedAt = performance.now()
  let hasEnded = false

  /** Spans that start during the work are children of this one. */
  function run<T>(work: () => T): T {
    return tracer && span ? tracer.run(span, work) : work()
  }

  /** Only the first call counts. */
  function end(outcome: string, attributes?: Attributes, isFailure = false): void {
    if (hasEnded) return
    hasEnded = true
    duration.observe([...labels, outcome], (performance.now() - startedAt) / 1000)
    span?.end({ ...attributes, 'cadre.outcome': outcome }, isFailure ? outcome : undefined)
  }

  function fail(error: unknown, signal?: AbortSignal | undefined): void {
    if (signal?.aborted) end('aborted')
    else end(error instanceof CadreError ? error.code : 'INTERNAL', undefined, true)
  }

  return { run, end, fail }
}

export type Operation = ReturnType<typeof createOperation>
