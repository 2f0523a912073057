/** Creates the HTTP server together with its host guard, rate limiter and idempotency store. */
import type { FastifyBaseLogger } from 'fastify'
import type { Caller } from '../core/caller.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database } from '../store/database.ts'
import type { Validator } from '../validation/validator.ts'
import type { Binding } from './binding.ts'
import { HostGuard } from './host-guard.ts'
import { Idempotency } from './idempotency.ts'
import { RateLimiter } from './rate-limiter.ts'
import { createServer } from './server.ts'

export interface HttpDependencies {
  database: Database
  vault: Vault
  validator: Validator
  logger: FastifyBaseLogger
  /** Requests per minute and token. */
  rateLimit: number
  getOpenapi(): object
  authenticate(secret: string): Promise<Caller | undefined>
}

export async function createHttp(dependencies: HttpDependencies, bindings: readonly Binding[]) {
  const { database, vault, rateLimit } = dependencies
  const hostGuard = new HostGuard()
  let address = ''
  let isDraining = false
  const server = await createServer(
    {
      ...dependencies,
      hostGuard,
      limiter: new RateLimiter(rateLimit),
      idempotency: new Idempotency(database, vault),
      isDraining: () => isDraining,
    },
    bindings,
  )
  return {
    server,
    /** Empty until the server listens. */
    getAddress: () => address,
    setAddress(url: string) {
      address = url
      hostGuard.setAddress(url)
    },
    /** Rejects new requests with 503. */
    drain() {
      isDraining = true
    },
  }
}
