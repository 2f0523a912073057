/** The connections to providers: kept open between calls, and guarded where nobody allowed the private network. */
import { lookup } from 'node:dns/promises'
import type { Agent } from 'undici'
import { guardedConnector, type Resolve } from '../outbound/connector.ts'

/** Providers close idle connections after a minute or more; a question seldom waits longer for the next. */
const KEPT_MS = 30_000

const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true })

export class Connections {
  readonly #connectMs: number
  readonly #resolve: Resolve
  /** Apart, so that a connection into the private network never serves a model that may not go there. */
  readonly #agents = new Map<boolean, Promise<Agent>>()

  constructor(connectMs: number, resolve: Resolve = systemResolve) {
    this.#connectMs = connectMs
    this.#resolve = resolve
  }

  agent(allowPrivateNetwork: boolean): Promise<Agent> {
    const made = this.#agents.get(allowPrivateNetwork)
    if (made) return made
    const agent = import('undici').then(({ Agent, buildConnector }) => {
      const build: typeof buildConnector = (options) => buildConnector({ ...options, timeout: this.#connectMs, keepAlive: true })
      return new Agent({ connect: guardedConnector(build, this.#resolve, allowPrivateNetwork), keepAliveTimeout: KEPT_MS })
    })
    this.#agents.set(allowPrivateNetwork, agent)
    return agent
  }

  async close(): Promise<void> {
    const agents = [...this.#agents.values()]
    this.#agents.clear()
    await Promise.all(agents.map(async (agent) => (await agent).destroy()))
  }
}
