/** The door: builds the Fastify server, checks every request in order, and registers the contract's routes under both paths. */
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { TSchema } from 'typebox'
import { CadreError } from '../../src/contract/errors.ts'
import { ACCESS, type Route } from '../../src/contract/route.ts'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import type { Caller } from '../core/caller.ts'
import type { Validator } from '../validation/validator.ts'
import { registerApiReference } from './api-reference.ts'
import type { Binding } from './binding.ts'
import { addJsonParser } from './content-type-parser.ts'
import { sendError } from './errors.ts'
import { OpenStreams } from './event-stream.ts'
import { handleClientError } from './handle-client-error.ts'
import { handleRequest } from './handle-request.ts'
import type { HostGuard } from './host-guard.ts'
import type { Idempotency } from './idempotency.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { removeUnchangedFields } from './remove-unchanged-fields.ts'

const MEGABYTE = 1024 * 1024
const PREFIXES = ['/api', '/api/v1']

declare module 'fastify' {
  interface FastifyContextConfig {
    contract?: Route
    /** Needs no token although it is no route of the contract. */
    open?: boolean
  }
  interface FastifyRequest {
    caller: Caller | undefined
  }
}

export interface ServerDependencies {
  logger: FastifyBaseLogger
  hostGuard: HostGuard
  limiter: RateLimiter
  idempotency: Idempotency
  validator: Validator
  authenticate(secret: string): Promise<Caller | undefined>
  /** Whether the daemon is stopping and takes no new work. */
  isDraining(): boolean
  /** The OpenAPI document, for the reference. */
  openapi: object
}

export async function createServer(door: ServerDependencies, bindings: readonly Binding[]): Promise<FastifyInstance> {
  const server = Fastify({
    loggerInstance: door.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => `req_${crypto.randomUUID()}`,
    bodyLimit: MEGABYTE,
    requestTimeout: 120_000,
    forceCloseConnections: true,
    // The door says what is wrong with the host, in the shape of all other errors.
    http: { requireHostHeader: false },
    clientErrorHandler: handleClientError,
    return503OnClosing: false, // and so here
    // A logger of its own for every request costs a tenth of a short one; what is logged here names the request itself.
    childLoggerFactory: (logger) => logger,
    routerOptions: { maxParamLength: 1_000, ignoreTrailingSlash: true },
    frameworkErrors: ((error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendPathError(door, error, request, reply)) as never,
  })
  server.decorateRequest('caller', undefined)
  server.setErrorHandler(sendError)
  server.setNotFoundHandler((request, reply) =>
    sendError(
      new CadreError('NOT_FOUND', `There is no ${request.method} ${request.url.split('?')[0]}.`, {
        hint: 'The API reference is at /docs.',
      }),
      request,
      reply,
    ),
  )
  server.addHook('onRequest', async (request, reply) => authorize(door, request, reply))
  server.addHook('onResponse', (request, reply, done) => {
    logResponse(door.logger, request, reply)
    done()
  })
  addJsonParser(server)
  server.setValidatorCompiler(({ schema, httpPart }) => {
    const check = httpPart === 'body' ? door.validator.forBody(schema as never) : door.validator.forText(schema as never)
    return (value: unknown) => {
      const error = check(value)
      return error ? { error } : { value }
    }
  })
  server.setSerializerCompiler(() => (value) => JSON.stringify(value))
  await registerApiReference(server, door.openapi)
  const streams = new OpenStreams()
  server.addHook('preClose', () => streams.waitUntilClosed())
  const bound = new Map(bindings.map((binding) => [binding.route.id, binding]))
  for (const prefix of PREFIXES) for (const route of ALL_ROUTES) registerRoute(server, prefix, route, bound.get(route.id), door, streams)
  rejectOtherMethods(server)
  return server
}

/** Host and origin, then the token, then the rate, then the role: each before anything that costs more. */
async function authorize(door: ServerDependencies, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  checkHost(door, request, reply)
  if (door.isDraining()) throw new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'Try again in a moment.' })
  const { contract, open } = request.routeOptions.config
  if (open || contract?.access === 'public') return
  const caller = await authenticate(door, request)
  const { headers, error: refused } = door.limiter.consume(caller ? caller.tokenId : `address ${request.ip}`)
  reply.headers(headers)
  if (refused) throw refused
  if (!caller) {
    reply.header('www-authenticate', 'Bearer')
    throw new CadreError('UNAUTHENTICATED', request.headers.authorization ? 'The token is not valid.' : 'This needs a token.', {
      hint: 'Send Authorization: Bearer <ACCESS_TOKEN>; an admin makes one with: cadre tokens create. The API reference is at /docs.',
    })
  }
  request.caller = caller
  if (contract && !(ACCESS[contract.access] as readonly string[]).includes(caller.role))
    throw new CadreError('FORBIDDEN', `The role ${caller.role} may not do this.`, {
      hint: `It takes a token with the role ${ACCESS[contract.access].join(' or ')}.`,
    })
}

function checkHost(door: ServerDependencies, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id).header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
  door.hostGuard.check(request.headers.host, request.headers.origin)
}

/** A path that no route can have is refused before any hook runs; the host is looked at first all the same. */
function sendPathError(door: ServerDependencies, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  try {
    checkHost(door, request, reply)
  } catch (refused) {
    return sendError(refused, request, reply)
  }
  return sendError(error, request, reply)
}

function authenticate(door: ServerDependencies, request: FastifyRequest): Promise<Caller | undefined> | undefined {
  const [, secret] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
  return secret === undefined ? undefined : door.authenticate(secret)
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
  prefix: string,
  route: Route,
  binding: Binding | undefined,
  door: ServerDependencies,
  streams: OpenStreams,
): void {
  if (!binding) throw new Error(`Nothing answers ${route.id}`)
  server.route({
    method: route.method,
    url: toFastifyPath(prefix, route),
    config: { contract: route },
    ...(route.bodyLimit ? { bodyLimit: route.bodyLimit } : {}),
    schema: {
      ...(route.params ? { params: route.params } : {}),
      querystring: route.query ?? EMPTY_QUERY,
      ...(route.body ? { body: route.body } : {}),
    },
    preValidation: async (request) => {
      const problem = checkBody(route, request)
      if (problem) throw problem
      if (binding.current)
        request.body = await removeUnchangedFields(request, door.validator.forBody(route.body as TSchema), binding.current)
    },
    handler: (request, reply) => handleRequest(door.idempotency, streams, binding, request, reply),
  })
}

/** The contract writes {id} where Fastify writes :id. */
const toFastifyPath = (prefix: string, { path }: Route): string => prefix + path.replaceAll(/\{(\w+)\}/g, ':$1')

const EMPTY_QUERY = { type: 'object', additionalProperties: false, properties: {} }

/** A body that may be empty may be left out, and a route without one is not sent one by mistake. */
function checkBody(route: Route, request: FastifyRequest): CadreError | undefined {
  if (route.body) {
    const { required, minProperties } = route.body as { required?: string[]; minProperties?: number }
    if (request.body === undefined && !required?.length && !minProperties) request.body = {}
    return undefined
  }
  const sent = request.body
  const empty = sent === undefined || sent === null || (typeof sent === 'object' && Object.keys(sent).length === 0)
  return empty ? undefined : new CadreError('VALIDATION_ERROR', 'This takes no body.')
}

function rejectOtherMethods(server: FastifyInstance): void {
  const taken = new Map<string, string[]>()
  for (const prefix of PREFIXES) {
    for (const route of ALL_ROUTES) {
      const url = toFastifyPath(prefix, route)
      taken.set(url, [...(taken.get(url) ?? []), route.method])
    }
  }
  for (const [url, methods] of taken) {
    server.route({
      method: server.supportedMethods.filter((method) => !methods.includes(method === 'HEAD' ? 'GET' : method)),
      url,
      handler: async (request, reply) => {
        reply.header('allow', methods.join(', '))
        throw new CadreError(
          'METHOD_NOT_ALLOWED',
          `${request.method} is not possible here; ${methods.join(', ')} ${methods.length > 1 ? 'are' : 'is'}.`,
        )
      },
    })
  }
}
