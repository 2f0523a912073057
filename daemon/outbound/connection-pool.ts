/** Connections to the providers of models: kept open between calls, and guarded where nobody allowed the private network. */
import { lookup } from 'node:dns/promises'
import type { Agent } from 'undici'
import { createGuardedConnector, type Resolve } from './guarded-connector.ts'

/** Providers close idle connections after a minute or more; a question seldom waits longer for the next. */
const KEEP_ALIVE_MS = 30_000

const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true })

export interface ConnectionPoolOptions extends Agent.Options {
  connectTimeoutMs: number
  /** Where names are looked up; the system's resolver unless a test has its own. */
  resolve?: Resolve | undefined
}

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions
  /** Apart, so that a connection into the private network never serves a model that may not go there. */
  readonly #agents = new Map<boolean, Promise<Agent>>()

  constructor(options: ConnectionPoolOptions) {
    this.#options = options
  }

  /** Loaded when first needed: undici is not small. */
  getAgent(allowPrivateNetwork: boolean): Promise<Agent> {
    const made = this.#agents.get(allowPrivateNetwork)
    if (made) return made
    const { connectTimeoutMs: connectMs, resolve = systemResolve, ...options } = this.#options
    const agent = import('undici').then(({ Agent, buildConnector }) => {
      const build: typeof buildConnector = (given) => buildConnector({ ...given, timeout: connectMs, keepAlive: true })
      return new Agent({
        keepAliveTimeout: KEEP_ALIVE_MS,
        ...options,
        connect: createGuardedConnector(build, resolve, allowPrivateNetwork),
      })
    })
    this.#agents.set(allowPrivateNetwork, agent)
    return agent
  }

  /** Ends what is under way and closes kept connections. */
  async close(): Promise<void> {
    const agents = [...this.#agents.values()]
    this.#agents.clear()
    await Promise.all(agents.map(async (agent) => (await agent).destroy()))
  }
}
