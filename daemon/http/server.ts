/** The door: builds the Fastify server, checks every request in order, and registers the contract's routes under both paths. */
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { TSchema } from 'typebox'
import { CadreError } from '../../src/contract/errors.ts'
import { ACCESS, type Route } from '../../src/contract/route.ts'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import type { Caller } from '../core/caller.ts'
import type { Validator } from '../validation/validator.ts'
import type { Binding } from './binding.ts'
import { answerError } from './errors.ts'
import type { HostGuard } from './host-guard.ts'
import type { Idempotency } from './idempotency.ts'
import { readJson } from './json-body.ts'
import type { RateLimiter } from './rate-limit.ts'
import { addReference } from './reference.ts'
import { answer } from './reply.ts'
import { OpenStreams } from './stream.ts'
import { withoutUnchanged } from './unchanged.ts'
import { refuseUnreadable } from './unreadable.ts'

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

export interface Door {
  logger: FastifyBaseLogger
  hostGuard: HostGuard
  limiter: RateLimiter
  idempotency: Idempotency
  validator: Validator
  authenticate(secret: string): Promise<Caller | undefined>
  /** Whether the daemon is stopping and takes no new work. */
  draining(): boolean
  /** The OpenAPI document, for the reference. */
  description: object
}

export async function createServer(door: Door, bindings: readonly Binding[]): Promise<FastifyInstance> {
  const server = Fastify({
    loggerInstance: door.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => `req_${crypto.randomUUID()}`,
    bodyLimit: MEGABYTE,
    requestTimeout: 120_000,
    forceCloseConnections: true,
    // The door says what is wrong with the host, in the shape of all other errors.
    http: { requireHostHeader: false },
    clientErrorHandler: refuseUnreadable,
    return503OnClosing: false, // and so here
    // A logger of its own for every request costs a tenth of a short one; what is logged here names the request itself.
    childLoggerFactory: (logger) => logger,
    routerOptions: { maxParamLength: 1_000, ignoreTrailingSlash: true },
    frameworkErrors: ((error: unknown, request: FastifyRequest, reply: FastifyReply) => refusePath(door, error, request, reply)) as never,
  })
  server.decorateRequest('caller', undefined)
  server.setErrorHandler(answerError)
  server.setNotFoundHandler((request, reply) =>
    answerError(
      new CadreError('NOT_FOUND', `There is no ${request.method} ${request.url.split('?')[0]}.`, {
        hint: 'The API reference is at /docs.',
      }),
      request,
      reply,
    ),
  )
  server.addHook('onRequest', async (request, reply) => admit(door, request, reply))
  server.addHook('onResponse', (request, reply, done) => {
    logAnswer(door.logger, request, reply)
    done()
  })
  readJson(server)
  server.setValidatorCompiler(({ schema, httpPart }) => {
    const check = httpPart === 'body' ? door.validator.body(schema as never) : door.validator.text(schema as never)
    return (value: unknown) => {
      const error = check(value)
      return error ? { error } : { value }
    }
  })
  server.setSerializerCompiler(() => (value) => JSON.stringify(value))
  await addReference(server, door.description)
  const streams = new OpenStreams()
  server.addHook('preClose', () => streams.ended())
  const bound = new Map(bindings.map((binding) => [binding.route.id, binding]))
  for (const prefix of PREFIXES) for (const route of ALL_ROUTES) register(server, prefix, route, bound.get(route.id), door, streams)
  refuseOtherMethods(server)
  return server
}

/** Host and origin, then the token, then the rate, then the role: each before anything that costs more. */
async function admit(door: Door, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  greet(door, request, reply)
  if (door.draining()) throw new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'Try again in a moment.' })
  const { contract, open } = request.routeOptions.config
  if (open || contract?.access === 'open') return
  const caller = await identify(door, request)
  const { headers, refused } = door.limiter.take(caller ? caller.tokenId : `address ${request.ip}`)
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

function greet(door: Door, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id).header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
  door.hostGuard.check(request.headers.host, request.headers.origin)
}

/** A path that no route can have is refused before any hook runs; the host is looked at first all the same. */
function refusePath(door: Door, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  try {
    greet(door, request, reply)
  } catch (refused) {
    return answerError(refused, request, reply)
  }
  return answerError(error, request, reply)
}

function identify(door: Door, request: FastifyRequest): Promise<Caller | undefined> | undefined {
  const [, secret] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
  return secret === undefined ? undefined : door.authenticate(secret)
}

function logAnswer(logger: FastifyBaseLogger, request: FastifyRequest, reply: FastifyReply): void {
  const level = request.method === 'GET' && reply.statusCode < 400 ? 'debug' : 'info'
  if (level === 'debug' && logger.level !== 'debug' && logger.level !== 'trace') return
  const { id, method, routeOptions, caller } = request
  const { statusCode: status, elapsedTime } = reply
  logger[level]({ request_id: id, method, path: routeOptions.url, status, ms: Math.round(elapsedTime), token: caller?.tokenId }, 'request')
}

function register(
  server: FastifyInstance,
  prefix: string,
  route: Route,
  binding: Binding | undefined,
  door: Door,
  streams: OpenStreams,
): void {
  if (!binding) throw new Error(`Nothing answers ${route.id}`)
  server.route({
    method: route.method,
    url: addressOf(prefix, route),
    config: { contract: route },
    ...(route.bodyLimit ? { bodyLimit: route.bodyLimit } : {}),
    schema: {
      ...(route.params ? { params: route.params } : {}),
      querystring: route.query ?? NO_FIELDS,
      ...(route.body ? { body: route.body } : {}),
    },
    preValidation: async (request) => {
      const problem = bodyProblem(route, request)
      if (problem) throw problem
      if (binding.standing) request.body = await withoutUnchanged(request, door.validator.body(route.body as TSchema), binding.standing)
    },
    handler: (request, reply) => answer(door.idempotency, streams, binding, request, reply),
  })
}

/** The contract writes {id} where Fastify writes :id. */
const addressOf = (prefix: string, { path }: Route): string => prefix + path.replaceAll(/\{(\w+)\}/g, ':$1')

const NO_FIELDS = { type: 'object', additionalProperties: false, properties: {} }

/** A body that may be empty may be left out, and a route without one is not sent one by mistake. */
function bodyProblem(route: Route, request: FastifyRequest): CadreError | undefined {
  if (route.body) {
    const { required, minProperties } = route.body as { required?: string[]; minProperties?: number }
    if (request.body === undefined && !required?.length && !minProperties) request.body = {}
    return undefined
  }
  const sent = request.body
  const empty = sent === undefined || sent === null || (typeof sent === 'object' && Object.keys(sent).length === 0)
  return empty ? undefined : new CadreError('VALIDATION_ERROR', 'This takes no body.')
}

function refuseOtherMethods(server: FastifyInstance): void {
  const taken = new Map<string, string[]>()
  for (const prefix of PREFIXES) {
    for (const route of ALL_ROUTES) {
      const url = addressOf(prefix, route)
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
