/** Connections to the providers of models: kept open between calls, and guarded where nobody allowed the private network. */
import { lookup } from 'node:dns/promises'
import type { Agent } from 'undici'
import { guardedConnector, type Resolve } from './connector.ts'

/** Providers close idle connections after a minute or more; a question seldom waits longer for the next. */
const KEPT_MS = 30_000

const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true })

export interface ConnectionsOptions extends Agent.Options {
  connectMs: number
  /** Where names are looked up; the system's resolver unless a test has its own. */
  resolve?: Resolve | undefined
}

export class Connections {
  readonly #options: ConnectionsOptions
  /** Apart, so that a connection into the private network never serves a model that may not go there. */
  readonly #agents = new Map<boolean, Promise<Agent>>()

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  /** Loaded when first needed: undici is not small. */
  agent(allowPrivateNetwork: boolean): Promise<Agent> {
    const made = this.#agents.get(allowPrivateNetwork)
    if (made) return made
    const { connectMs, resolve = systemResolve, ...options } = this.#options
    const agent = import('undici').then(({ Agent, buildConnector }) => {
      const build: typeof buildConnector = (given) => buildConnector({ ...given, timeout: connectMs, keepAlive: true })
      return new Agent({ keepAliveTimeout: KEPT_MS, ...options, connect: guardedConnector(build, resolve, allowPrivateNetwork) })
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
