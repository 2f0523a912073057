/** Pools outbound connections. Blocks private addresses unless allowed. */
import { lookup } from 'node:dns/promises'
import type { Agent } from 'undici'
import { scaleTimeout } from '../../src/deadline.ts'
import { createGuardedConnector, type Resolve } from './guarded-connector.ts'

/** Shorter than the idle timeout of model providers, which is a minute or more. */
const KEEP_ALIVE_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000

export const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true })

interface ConnectionPoolOptions extends Agent.Options {
  connectTimeoutMs?: number
  /** DNS resolver; tests replace it. */
  resolve?: Resolve | undefined
}

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions
  /** Separate pools, so that a connection to a private address never serves a caller without that permission. */
  readonly #agents = new Map<boolean, Promise<Agent>>()

  constructor(options: ConnectionPoolOptions) {
    this.#options = options
  }

  /** Loads undici on first use. */
  getAgent(allowPrivateNetwork: boolean): Promise<Agent> {
    const made = this.#agents.get(allowPrivateNetwork)
    if (made) return made
    const { connectTimeoutMs: timeout = scaleTimeout(CONNECT_TIMEOUT_MS), resolve = systemResolve, ...options } = this.#options
    const agent = import('undici').then(({ Agent, buildConnector }) => {
      const build: typeof buildConnector = (given) => buildConnector({ ...given, timeout })
      return new Agent({
        keepAliveTimeout: KEEP_ALIVE_MS,
        ...options,
        connect: createGuardedConnector(build, resolve, allowPrivateNetwork),
      })
    })
    this.#agents.set(allowPrivateNetwork, agent)
    return agent
  }

  /** Aborts running requests and closes idle connections. */
  async close(): Promise<void> {
    const agents = [...this.#agents.values()]
    this.#agents.clear()
    await Promise.all(agents.map(async (agent) => (await agent).destroy()))
  }
}
