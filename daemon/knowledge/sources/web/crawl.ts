/** Reading the pages of a site in order, two at a time, as politely as its robots.txt asks. */
import { setTimeout as pause } from 'node:timers/promises'
import { CadreError } from '../../../../src/contract/errors.ts'
import { type Browsing, fetchPage } from './page.ts'
import type { StoredPage } from './page-store.ts'
import { EVERYTHING, parseRobots, type Robots } from './robots.ts'

const AT_ONCE = 2
const MOST_WAITING = 50_000
const LONGEST_DELAY_S = 10
const ROBOTS_BYTES = 512 * 1024

export interface CrawlOptions {
  browsing: Browsing
  /** Where to begin. */
  from: AsyncIterable<string> | Iterable<string>
  maxPages: number
  /** How many links deep to go; 0 reads what it begins with. */
  maxDepth: number
  /** Whether a page of this address belongs to the site; told the first page that was read. */
  belongs: (address: string, first: StoredPage | undefined) => boolean
  /** Whether the source fails with its first page. */
  firstDecides: boolean
}

export type Crawled = { name: string; address: string; page: StoredPage } | { name: string; problem: string }

interface Target {
  address: string
  depth: number
}
type Outcome = Target & { page?: StoredPage | undefined; error?: unknown }

export async function* crawl(options: CrawlOptions): AsyncGenerator<Crawled> {
  const ending = new AbortController()
  const abort = () => ending.abort(options.browsing.signal.reason)
  options.browsing.signal.throwIfAborted()
  options.browsing.signal.addEventListener('abort', abort, { once: true })
  try {
    yield* crawlUntil({ ...options, browsing: { ...options.browsing, signal: ending.signal } })
  } finally {
    // Whoever stopped listening needs no more pages.
    ending.abort()
    options.browsing.signal.removeEventListener('abort', abort)
  }
}

async function* crawlUntil({ browsing, from, maxPages, maxDepth, belongs, firstDecides }: CrawlOptions): AsyncGenerator<Crawled> {
  const start = iteratorOf(from)
  const waiting: Target[] = []
  const queued = new Set<string>()
  const taken = new Set<string>()
  const contents = new Set<string>()
  const flying: Promise<Outcome>[] = []
  const site = new Site(browsing)
  let first: StoredPage | undefined
  let failure: { error: unknown } | undefined
  let begun = 0
  let given = 0

  const next = async (): Promise<Target | undefined> => {
    if (waiting.length > 0) return waiting.shift()
    if (failure) return undefined
    try {
      const { value, done } = await start.next()
      return done ? undefined : { address: value, depth: 0 }
    } catch (error) {
      // Told when the pages that are under way have arrived.
      failure = { error }
      return undefined
    }
  }
  const fetchOne = async (target: Target): Promise<Outcome> => {
    try {
      await site.turn(target.address)
      return { ...target, page: await fetchPage(target.address, browsing, firstDecides && target.depth === 0 ? 'refuse' : 'use') }
    } catch (error) {
      return { ...target, error }
    }
  }

  for (;;) {
    // The first page says where the site is, so nothing goes out beside it.
    while (flying.length < (first || !firstDecides ? AT_ONCE : 1) && given + flying.length < maxPages && begun < maxPages * 5 + 20) {
      const target = await next()
      if (!target) break
      if (taken.has(target.address) || (target.depth === 0 && queued.has(target.address))) continue
      queued.add(target.address)
      if (!(await site.allows(target.address))) {
        if (firstDecides && begun === 0)
          throw new CadreError(
            'FORBIDDEN',
            `The robots.txt of ${new URL(target.address).host} does not let programs read ${target.address}.`,
          )
        continue
      }
      begun++
      flying.push(fetchOne(target))
    }
    const outcome = await flying.shift()
    if (!outcome) {
      if (failure) throw failure.error
      return
    }
    browsing.signal.throwIfAborted()
    const { address, depth, page, error } = outcome
    const deciding = firstDecides && first === undefined
    if (error !== undefined && (deciding || !(error instanceof CadreError))) throw error
    if (error !== undefined && !taken.has(address)) {
      taken.add(address)
      given++
      yield { name: address, problem: (error as CadreError).message }
    }
    if (!page) {
      if (deciding) throw new CadreError('UNSUPPORTED_MEDIA_TYPE', `${address} is no page that can be read.`)
      continue
    }
    first ??= page
    if (!belongs(page.url, first)) continue
    const name = nameOf(page, (candidate) => belongs(candidate, first))
    const known = taken.has(name) || contents.has(page.hash)
    for (const one of [name, page.url, address]) {
      taken.add(one)
      queued.add(one)
    }
    contents.add(page.hash)
    if (!known) {
      given++
      yield { name, address, page }
    }
    if (depth >= maxDepth) continue
    for (const link of page.links) {
      if (queued.has(link) || waiting.length >= MOST_WAITING || !belongs(link, first)) continue
      queued.add(link)
      waiting.push({ address: link, depth: depth + 1 })
    }
  }
}

/** A page may name its one true address. Sites that name their front page on every page are not believed. */
function nameOf({ url, canonical }: StoredPage, belongs: (address: string) => boolean): string {
  if (canonical === undefined || !belongs(canonical)) return url
  return new URL(canonical).pathname === '/' && new URL(url).pathname !== '/' ? url : canonical
}

function iteratorOf(from: AsyncIterable<string> | Iterable<string>): AsyncIterator<string> | Iterator<string> {
  return Symbol.asyncIterator in from ? from[Symbol.asyncIterator]() : from[Symbol.iterator]()
}

/** What the origins of a crawl allow, asked once each. */
class Site {
  readonly #browsing: Browsing
  readonly #robots = new Map<string, Promise<Robots>>()
  #turns: Promise<unknown> = Promise.resolve()

  constructor(browsing: Browsing) {
    this.#browsing = browsing
  }

  async allows(address: string): Promise<boolean> {
    return (await this.#of(address)).allows(address)
  }

  /** Waits as long as the site asks between two requests. */
  async turn(address: string): Promise<void> {
    const delay = Math.min((await this.#of(address)).delay, LONGEST_DELAY_S)
    if (delay === 0) return
    const before = this.#turns
    this.#turns = before.then(() => pause(delay * 1_000, undefined, { signal: this.#browsing.signal }))
    // Whoever waits for a turn hears of the end; the chain itself has nobody to tell.
    this.#turns.catch(() => {})
    await before
  }

  #of(address: string): Promise<Robots> {
    const { origin } = new URL(address)
    const known = this.#robots.get(origin)
    if (known) return known
    const robots = this.#fetch(origin)
    this.#robots.set(origin, robots)
    return robots
  }

  /** No file, no rules; a server in trouble is left alone. */
  async #fetch(origin: string): Promise<Robots> {
    const { outbound, allowPrivateNetwork, signal } = this.#browsing
    const answer = await outbound.request(`${origin}/robots.txt`, {
      allowPrivateNetwork,
      signal,
      timeoutMs: 15_000,
      maxBytes: ROBOTS_BYTES,
    })
    if (answer.status >= 500)
      throw new CadreError('UNAVAILABLE', `${origin}/robots.txt cannot be read: the server answered ${answer.status}.`)
    return answer.status >= 200 && answer.status < 300 ? parseRobots(Buffer.from(answer.body).toString('utf8')) : EVERYTHING
  }
}
