/** Records every request: its duration for the metrics and, if traces are enabled, its span. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { getRoutePath, METHODS } from '../../src/contract/route.ts'
import type { Telemetry } from './telemetry.ts'
import type { Span, Tracer } from './tracing/tracer.ts'

const KNOWN_METHODS: readonly string[] = [...METHODS, 'HEAD', 'OPTIONS']

export function recordRequests(server: FastifyInstance, telemetry: Telemetry): void {
  server.addHook('onResponse', (request, reply, done) => {
    telemetry.observeRequest(getMethod(request), getRoute(request), String(reply.statusCode), reply.elapsedTime / 1000)
    done()
  })
  if (telemetry.tracer) traceRequests(server, telemetry.tracer)
}

/** The context is entered just before the handler: reading a body in between would leave it. */
function traceRequests(server: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<FastifyRequest, Span>()
  server.addHook('onRequest', (request, _, done) => {
    const { traceparent, tracestate } = request.headers
    const parent = { traceparent: [traceparent].flat()[0], tracestate: [tracestate].flat().join(',') }
    const attributes = { 'http.request.method': getMethod(request), 'http.route': getRoute(request), 'cadre.request_id': request.id }
    spans.set(request, tracer.startSpan(`${getMethod(request)} ${getRoute(request)}`, 'server', { attributes, parent }))
    done()
  })
  server.addHook('preHandler', (request, _, done) => tracer.run(spans.get(request), done))
  server.addHook('onResponse', (request, { statusCode }, done) => {
    spans.get(request)?.end({ 'http.response.status_code': statusCode }, statusCode >= 500 ? String(statusCode) : undefined)
    done()
  })
}

/** Node.js accepts about 35 methods. */
const getMethod = ({ method }: FastifyRequest): string => (KNOWN_METHODS.includes(method) ? method : 'OTHER')

/** The path of the contract, which is the same for both prefixes; never the path of the request. */
function getRoute({ routeOptions: { config, url }, is404 }: FastifyRequest): string {
  if (config.contract) return getRoutePath(config.contract)
  return is404 || url === undefined ? 'none' : url
}
