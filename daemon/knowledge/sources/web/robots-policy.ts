/** Applies the robots.txt files of a crawl; each origin is fetched once. */
import { setTimeout as pause } from 'node:timers/promises'
import { CadreError } from '../../../../src/contract/errors.ts'
import type { FetchContext } from './fetch-page.ts'
import { ALLOW_ALL, parseRobots, type Robots } from './parse-robots.ts'

const MAX_CRAWL_DELAY_S = 10
const MAX_ROBOTS_BYTES = 512 * 1024
const REQUEST_TIMEOUT_MS = 15_000

export class RobotsPolicy {
  readonly #context: FetchContext
  readonly #robots = new Map<string, Promise<Robots>>()
  #queue: Promise<unknown> = Promise.resolve()

  constructor(context: FetchContext) {
    this.#context = context
  }

  async isAllowed(url: string): Promise<boolean> {
    return (await this.#getRobots(url)).isAllowed(url)
  }

  /** Waits for the crawl delay of the site between two requests. */
  async waitForTurn(url: string): Promise<void> {
    const delay = Math.min((await this.#getRobots(url)).crawlDelay, MAX_CRAWL_DELAY_S)
    if (delay === 0) return
    const turn = this.#queue
    this.#queue = turn.then(() => pause(delay * 1_000, undefined, { signal: this.#context.signal }))
    // Callers get the error of an abort from `await`.
    this.#queue.catch(() => {})
    await turn
  }

  #getRobots(url: string): Promise<Robots> {
    const { origin } = new URL(url)
    const robots = this.#robots.get(origin) ?? this.#fetchRobots(origin)
    this.#robots.set(origin, robots)
    return robots
  }

  /** A missing file allows everything; a server error stops the crawl (RFC 9309). */
  async #fetchRobots(origin: string): Promise<Robots> {
    const { outbound, allowPrivateNetwork, signal } = this.#context
    const response = await outbound.request(`${origin}/robots.txt`, {
      allowPrivateNetwork,
      signal,
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: MAX_ROBOTS_BYTES,
    })
    if (response.status >= 500)
      throw new CadreError('UNAVAILABLE', `${origin}/robots.txt cannot be read: the server returned status ${response.status}.`)
    return response.status >= 200 && response.status < 300 ? parseRobots(Buffer.from(response.body).toString('utf8')) : ALLOW_ALL
  }
}
