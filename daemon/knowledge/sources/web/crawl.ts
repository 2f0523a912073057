/** Reading the pages of a site in order, two at a time, as politely as its robots.txt asks. */
import { setTimeout as pause } from 'node:timers/promises'
import { CadreError } from '../../../../src/contract/errors.ts'
import { type FetchContext, fetchPage } from './fetch-page.ts'
import type { StoredPage } from './page-store.ts'
import { ALLOW_ALL, parseRobots, type Robots } from './robots.ts'

const MAX_CONCURRENT_REQUESTS = 2
const MAX_QUEUED_PAGES = 50_000
const MAX_CRAWL_DELAY_S = 10
const MAX_ROBOTS_BYTES = 512 * 1024

export interface CrawlOptions {
  context: FetchContext
  /** Where to begin. */
  seeds: AsyncIterable<string> | Iterable<string>
  maxPages: number
  /** How many links deep to go; 0 reads what it begins with. */
  maxDepth: number
  /** Whether a page of this address belongs to the site; told the first page that was read. */
  isInSite: (address: string, first: StoredPage | undefined) => boolean
  /** Whether the source fails with its first page. */
  isFirstRequired: boolean
}

export type CrawlResult = { name: string; address: string; page: StoredPage } | { name: string; problem: string }

interface QueuedPage {
  url: string
  depth: number
}
type FetchOutcome = QueuedPage & { page?: StoredPage | undefined; error?: unknown }

export async function* crawl(options: CrawlOptions): AsyncGenerator<CrawlResult> {
  const ending = new AbortController()
  const abort = () => ending.abort(options.context.signal.reason)
  options.context.signal.throwIfAborted()
  options.context.signal.addEventListener('abort', abort, { once: true })
  try {
    yield* crawlPages({ ...options, context: { ...options.context, signal: ending.signal } })
  } finally {
    // Whoever stopped listening needs no more pages.
    ending.abort()
    options.context.signal.removeEventListener('abort', abort)
  }
}

async function* crawlPages({
  context: browsing,
  seeds: from,
  maxPages,
  maxDepth,
  isInSite: belongs,
  isFirstRequired: firstDecides,
}: CrawlOptions): AsyncGenerator<CrawlResult> {
  const start = getIterator(from)
  const waiting: QueuedPage[] = []
  const queued = new Set<string>()
  const taken = new Set<string>()
  const contents = new Set<string>()
  const flying: Promise<FetchOutcome>[] = []
  const site = new RobotsPolicy(browsing)
  let first: StoredPage | undefined
  let failure: { error: unknown } | undefined
  let begun = 0
  let given = 0

  const next = async (): Promise<QueuedPage | undefined> => {
    if (waiting.length > 0) return waiting.shift()
    if (failure) return undefined
    try {
      const { value, done } = await start.next()
      return done ? undefined : { url: value, depth: 0 }
    } catch (error) {
      // Told when the pages that are under way have arrived.
      failure = { error }
      return undefined
    }
  }
  const fetchOne = async (target: QueuedPage): Promise<FetchOutcome> => {
    try {
      await site.waitForTurn(target.url)
      return { ...target, page: await fetchPage(target.url, browsing, firstDecides && target.depth === 0 ? 'refuse' : 'use') }
    } catch (error) {
      return { ...target, error }
    }
  }

  for (;;) {
    // The first page says where the site is, so nothing goes out beside it.
    while (
      flying.length < (first || !firstDecides ? MAX_CONCURRENT_REQUESTS : 1) &&
      given + flying.length < maxPages &&
      begun < maxPages * 5 + 20
    ) {
      const target = await next()
      if (!target) break
      if (taken.has(target.url) || (target.depth === 0 && queued.has(target.url))) continue
      queued.add(target.url)
      if (!(await site.isAllowed(target.url))) {
        if (firstDecides && begun === 0)
          throw new CadreError('FORBIDDEN', `The robots.txt of ${new URL(target.url).host} does not let programs read ${target.url}.`)
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
    const { url: address, depth, page, error } = outcome
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
    const name = getPageName(page, (candidate) => belongs(candidate, first))
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
      if (queued.has(link) || waiting.length >= MAX_QUEUED_PAGES || !belongs(link, first)) continue
      queued.add(link)
      waiting.push({ url: link, depth: depth + 1 })
    }
  }
}

/** A page may name its one true address. Sites that name their front page on every page are not believed. */
function getPageName({ url, canonical }: StoredPage, belongs: (address: string) => boolean): string {
  if (canonical === undefined || !belongs(canonical)) return url
  return new URL(canonical).pathname === '/' && new URL(url).pathname !== '/' ? url : canonical
}

function getIterator(from: AsyncIterable<string> | Iterable<string>): AsyncIterator<string> | Iterator<string> {
  return Symbol.asyncIterator in from ? from[Symbol.asyncIterator]() : from[Symbol.iterator]()
}

/** What the origins of a crawl allow, asked once each. */
class RobotsPolicy {
  readonly #context: FetchContext
  readonly #robots = new Map<string, Promise<Robots>>()
  #queue: Promise<unknown> = Promise.resolve()

  constructor(browsing: FetchContext) {
    this.#context = browsing
  }

  async isAllowed(address: string): Promise<boolean> {
    return (await this.#getRobots(address)).isAllowed(address)
  }

  /** Waits as long as the site asks between two requests. */
  async waitForTurn(address: string): Promise<void> {
    const delay = Math.min((await this.#getRobots(address)).crawlDelay, MAX_CRAWL_DELAY_S)
    if (delay === 0) return
    const before = this.#queue
    this.#queue = before.then(() => pause(delay * 1_000, undefined, { signal: this.#context.signal }))
    // Whoever waits for a turn hears of the end; the chain itself has nobody to tell.
    this.#queue.catch(() => {})
    await before
  }

  #getRobots(address: string): Promise<Robots> {
    const { origin } = new URL(address)
    const known = this.#robots.get(origin)
    if (known) return known
    const robots = this.#fetchRobots(origin)
    this.#robots.set(origin, robots)
    return robots
  }

  /** No file, no rules; a server in trouble is left alone. */
  async #fetchRobots(origin: string): Promise<Robots> {
    const { outbound, allowPrivateNetwork, signal } = this.#context
    const answer = await outbound.request(`${origin}/robots.txt`, {
      allowPrivateNetwork,
      signal,
      timeoutMs: 15_000,
      maxBytes: MAX_ROBOTS_BYTES,
    })
    if (answer.status >= 500)
      throw new CadreError('UNAVAILABLE', `${origin}/robots.txt cannot be read: the server answered ${answer.status}.`)
    return answer.status >= 200 && answer.status < 300 ? parseRobots(Buffer.from(answer.body).toString('utf8')) : ALLOW_ALL
  }
}
