/** Creates the Fastify server with its hooks and registers all routes: under /api and /api/v1, and those of OpenAI under /v1. */
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import { isBodyOptional, METHODS, type Route } from '../../src/contract/route.ts'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import { scaleTimeout } from '../../src/deadline.ts'
import type { Caller } from '../core/caller.ts'
import { recordRequests } from '../telemetry/record-requests.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Validator } from '../validation/validator.ts'
import { listAllowedMethods } from './allowed-methods.ts'
import { registerApiReference } from './api-reference.ts'
import { type AuthorizationDependencies, authorizeRequest, checkHostHeader, isTokenValid } from './authorize-request.ts'
import type { Binding } from './binding.ts'
import { addJsonParser } from './content-type-parser.ts'
import { sendError } from './errors.ts'
import { OpenStreams } from './event-stream.ts'
import { handleClientError } from './handle-client-error.ts'
import { handleRequest } from './handle-request.ts'
import type { Idempotency } from './idempotency.ts'
import { LargeResponses } from './large-responses.ts'
import { type HandleMcp, registerMcpRoute } from './mcp-route.ts'

const MEGABYTE = 1024 * 1024
const getPrefix = ({ protocol }: Route): string => (protocol === 'openai' ? '' : '/api')

declare module 'fastify' {
  interface FastifyContextConfig {
    contract?: Route
    /** A public route that is not part of the contract. */
    open?: boolean
  }
  interface FastifyRequest {
    caller: Caller | undefined
  }
}

export interface ServerDependencies extends AuthorizationDependencies {
  logger: FastifyBaseLogger
  idempotency: Idempotency
  validator: Validator
  telemetry: Telemetry
  getOpenapi(): object
  handleMcp: HandleMcp
}

export async function createServer(dependencies: ServerDependencies, bindings: readonly Binding[]): Promise<FastifyInstance> {
  const server = Fastify({
    loggerInstance: dependencies.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => `req_${crypto.randomUUID()}`,
    bodyLimit: MEGABYTE,
    requestTimeout: scaleTimeout(120_000),
    forceCloseConnections: true,
    // Our own hooks respond to a missing Host header and while closing, with an error body.
    http: { requireHostHeader: false },
    // Registering the routes a second time would take 6 % of the daemon's start.
    rewriteUrl: ({ url = '' }) => url.replace(/^\/api\/v1\//, '/api/'),
    clientErrorHandler: handleClientError,
    return503OnClosing: false,
    // A child logger per request takes 10 % of the time of a short request. Log lines include the request ID instead.
    childLoggerFactory: (logger) => logger,
    routerOptions: { maxParamLength: 1_000, ignoreTrailingSlash: true },
    frameworkErrors: ((error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendPathError(dependencies, error, request, reply)) as never,
  })
  server.decorateRequest('caller', undefined)
  server.setErrorHandler(sendError)
  server.setNotFoundHandler((request, reply) => {
    const allowed = listAllowedMethods(request)
    if (allowed.length > 0) rejectMethod(allowed, request, reply)
    throw new CadreError('NOT_FOUND', `There is no ${request.method} ${request.originalUrl.split('?')[0]}.`, {
      hint: 'The API reference is at /docs.',
    })
  })
  recordRequests(server, dependencies.telemetry)
  const largeResponses = new LargeResponses()
  server.addHook('onRequest', async (request, reply) => {
    await authorizeRequest(dependencies, request, reply)
    if (request.caller) largeResponses.requireRoom(request, reply)
  })
  server.addHook('onSend', async (request, reply, payload) => largeResponses.send(request, reply, payload))
  server.addHook('onResponse', (request, reply, done) => {
    logResponse(dependencies.logger, request, reply)
    done()
  })
  addJsonParser(server)
  server.setValidatorCompiler(({ schema, httpPart }) => {
    const check = httpPart === 'body' ? dependencies.validator.forBody(schema as never) : dependencies.validator.forText(schema as never)
    return (value: unknown) => {
      const error = check(value)
      return error ? { error } : { value }
    }
  })
  server.setSerializerCompiler(() => (value) => JSON.stringify(value))
  await registerApiReference(server, dependencies.getOpenapi)
  const streams = new OpenStreams((request) => isTokenValid(dependencies, request))
  server.addHook('preClose', () => streams.waitUntilClosed())
  const bound = new Map(bindings.map((binding) => [binding.route.id, binding]))
  for (const route of ALL_ROUTES) registerRoute(server, route, bound.get(route.id), dependencies, streams)
  protectFixedPaths(server)
  registerMcpRoute(server, dependencies, streams)
  return server
}

/** Responds to invalid paths, for which Fastify runs no hooks; the host is checked first. */
function sendPathError(dependencies: ServerDependencies, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  try {
    checkHostHeader(dependencies, request, reply)
  } catch (hostError) {
    return sendError(hostError, request, reply)
  }
  return sendError(error, request, reply)
}

function logResponse(logger: FastifyBaseLogger, request: FastifyRequest, reply: FastifyReply): void {
  const level = request.method === 'GET' && reply.statusCode < 400 ? 'debug' : 'info'
  if (level === 'debug' && logger.level !== 'debug' && logger.level !== 'trace') return
  const { id, method, routeOptions, caller } = request
  const { statusCode: status, elapsedTime } = reply
  logger[level]({ request_id: id, method, path: routeOptions.url, status, ms: Math.round(elapsedTime), token: caller?.tokenId }, 'request')
}

function registerRoute(
  server: FastifyInstance,
  route: Route,
  binding: Binding | undefined,
  dependencies: ServerDependencies,
  streams: OpenStreams,
): void {
  if (!binding) throw new Error(`Route ${route.id} has no handler`)
  server.route({
    method: route.method,
    url: toFastifyPath(route),
    config: { contract: route },
    ...(route.bodyLimit ? { bodyLimit: route.bodyLimit } : {}),
    schema: {
      ...(route.params ? { params: route.params } : {}),
      querystring: route.query ?? EMPTY_QUERY,
      ...(route.body && !binding.checkedSchema ? { body: route.body } : {}),
    },
    preValidation: async (request) => checkBody(route, request),
    handler: (request, reply) => handleRequest(dependencies, streams, binding, request, reply),
  })
}

/** The contract writes {id} where Fastify writes :id. */
const toFastifyPath = (route: Route): string => getPrefix(route) + route.path.replaceAll(/\{(\w+)\}/g, ':$1')

const EMPTY_QUERY = { type: 'object', additionalProperties: false, properties: {} }

/** Replaces a missing body by an empty one if it is optional, and rejects a body if the route takes none. */
function checkBody(route: Route, request: FastifyRequest): void {
  if (route.body) {
    if (request.body === undefined && isBodyOptional(route)) request.body = {}
    return
  }
  const { body } = request
  const isEmpty = body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0)
  if (!isEmpty) throw new CadreError('VALIDATION_ERROR', 'This request takes no body.')
}

/**
 * Other methods of `/models/discover` would reach the routes of `/models/{id}`; routes that reject them take precedence. On all
 * other paths the handler of unknown routes rejects them: routes for every method would take 6 % of the daemon's start.
 */
function protectFixedPaths(server: FastifyInstance): void {
  const routes = ALL_ROUTES.filter(({ protocol }) => protocol !== 'openai')
  for (const path of new Set(routes.map((route) => route.path))) {
    const same = routes.filter((route) => route.path === path)
    const url = toFastifyPath(same[0] as Route)
    const methods: readonly string[] = same.map(({ method }) => method)
    if (METHODS.every((method) => methods.includes(method) || server.findRoute({ method, url }) === null)) continue
    server.route({
      method: server.supportedMethods.filter((method) => !methods.includes(method === 'HEAD' ? 'GET' : method)),
      url,
      handler: async (request, reply) => rejectMethod(methods, request, reply),
    })
  }
}

function rejectMethod(allowed: readonly string[], request: FastifyRequest, reply: FastifyReply): never {
  reply.header('allow', allowed.join(', '))
  throw new CadreError('METHOD_NOT_ALLOWED', `${request.method} is not allowed. Allowed: ${allowed.join(', ')}.`)
}
