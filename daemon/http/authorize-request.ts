/** Authorizes requests before their body is read: host, token, rate limit and role. */
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import { ACCESS, hasAccess } from '../../src/contract/route.ts'
import type { Caller } from '../core/caller.ts'
import type { HostGuard } from './host-guard.ts'
import type { RateLimiter } from './rate-limiter.ts'

export interface AuthorizationDependencies {
  hostGuard: HostGuard
  limiter: RateLimiter
  /** The limit of a token, or undefined for the default. */
  getRateLimit(tokenId: string): number | undefined
  authenticate(secret: string): Promise<Caller | undefined>
  /** Whether the daemon is stopping and rejects new requests. */
  isDraining(): boolean
}

/** Cheap checks come first. */
export async function authorizeRequest(
  dependencies: AuthorizationDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  checkHostHeader(dependencies, request, reply)
  const { contract, open } = request.routeOptions.config
  if (dependencies.isDraining() && !contract?.isAnsweredWhileStopping)
    throw new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'Try again in a moment.' })
  if (open || contract?.access === 'public') return
  const caller = await authenticate(dependencies, request)
  const limit = caller && dependencies.getRateLimit(caller.tokenId)
  const { headers, error, delayMs = 0 } = dependencies.limiter.consume(caller?.tokenId ?? `address ${request.ip}`, limit)
  reply.headers(headers)
  // Before the body is read.
  if (error && delayMs > 0) await pause(delayMs, undefined, { ref: false })
  if (error) throw error
  if (!caller) {
    reply.header('www-authenticate', 'Bearer')
    throw new CadreError('UNAUTHENTICATED', request.headers.authorization ? 'The token is not valid.' : 'A token is required.', {
      hint: 'Send Authorization: Bearer <ACCESS_TOKEN>. Create a token with: cadre tokens create. The API reference is at /docs.',
    })
  }
  request.caller = caller
  if (contract && !hasAccess(caller.role, contract.access))
    throw new CadreError('FORBIDDEN', `The role ${caller.role} does not have permission for this request.`, {
      hint: `Use a token with the role ${ACCESS[contract.access].join(' or ')}.`,
    })
}

/** For streams: a token that was valid at the start may be deleted or expire in the meantime. */
export async function isTokenValid(dependencies: AuthorizationDependencies, request: FastifyRequest): Promise<boolean> {
  return request.caller === undefined || (await authenticate(dependencies, request)) !== undefined
}

export function checkHostHeader(dependencies: AuthorizationDependencies, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id).header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
  dependencies.hostGuard.check(request.headers.host, request.headers.origin)
  dependencies.hostGuard.checkTarget(request.raw)
}

function authenticate(dependencies: AuthorizationDependencies, request: FastifyRequest): Promise<Caller | undefined> | undefined {
  const [, secret] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
  return secret === undefined ? undefined : dependencies.authenticate(secret)
}
