/** Creates the HTTP server together with its host guard, rate limiter and idempotency store. */

import type { Shared } from '../shared-services.ts'
import type { Binding } from './binding.ts'
import { HostGuard } from './host-guard.ts'
import { createIdempotency } from './idempotency.ts'
import { RateLimiter } from './rate-limiter.ts'
import { createServer, type ServerDependencies } from './server.ts'

type SharedDependencies = 'logger' | 'validator' | 'telemetry' | 'getOpenapi' | 'authenticate' | 'getRateLimit' | 'handleMcp'

interface HttpDependencies extends Pick<ServerDependencies, SharedDependencies>, Shared<'database' | 'cluster' | 'vault'> {
  /** Requests per minute and token. */
  rateLimit: number
}

export async function createHttp(dependencies: HttpDependencies, bindings: readonly Binding[]) {
  const { cluster, rateLimit } = dependencies
  const limiter = new RateLimiter(rateLimit)
  cluster.shareCounts(limiter)
  const hostGuard = new HostGuard()
  let address = ''
  let isDraining = false
  const server = await createServer(
    {
      ...dependencies,
      hostGuard,
      limiter,
      idempotency: createIdempotency(dependencies),
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
    close: () => server.close(),
  }
}
