/** A local collector of traces that records the spans it receives. */
import { gunzipSync } from 'node:zlib'
import { readTraceSettings, type TraceSettings } from '../../../daemon/telemetry/tracing/trace-settings.ts'
import { Tracer } from '../../../daemon/telemetry/tracing/tracer.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code?: number }
  attributes: Record<string, string | number | boolean>
}

interface EncodedAttribute {
  key: string
  value: Record<string, string | number | boolean>
}

const decodeAttributes = (attributes: EncodedAttribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, 'intValue' in value ? Number(value.intValue) : Object.values(value)[0]]))

export class Collector {
  readonly server: RecordingServer
  readonly spans: CollectedSpan[] = []
  readonly warnings: string[] = []
  resource: Record<string, unknown> = {}
  /** Sent instead of storing the spans. */
  failure: number | undefined

  private constructor(server: RecordingServer) {
    this.server = server
  }

  static async start(): Promise<Collector> {
    const server = await startRecordingServer()
    const collector = new Collector(server)
    server.listenerReadsBody = true
    server.listener = async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      if (collector.failure !== undefined) return void response.writeHead(collector.failure).end()
      const body = Buffer.concat(parts)
      collector.#store(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body).toString() : body.toString())
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    }
    return collector
  }

  createTracer(environment: Record<string, string> = {}): Tracer {
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: this.server.origin, OTEL_BSP_SCHEDULE_DELAY: '20', ...environment }
    const log = (_: object, message: string) => void this.warnings.push(message)
    const logger = { debug() {}, info: log, warn: log, error: log }
    return new Tracer(readTraceSettings(variables, '1.2.3') as TraceSettings, '1.2.3', logger)
  }

  find = (name: string): Promise<CollectedSpan> =>
    waitFor(() => this.spans.find((span) => span.name === name), { description: `the span ${name}` })

  close = () => this.server.close()

  #store(text: string): void {
    const { resourceSpans } = JSON.parse(text)
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = decodeAttributes(resource.attributes)
      for (const { spans } of scopeSpans)
        this.spans.push(
          ...spans.map((span: { attributes: EncodedAttribute[] }) => ({ ...span, attributes: decodeAttributes(span.attributes) })),
        )
    }
  }
}
