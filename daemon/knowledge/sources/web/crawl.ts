/** Crawls the pages of a site in order, within the rules of its robots.txt. */
import { CadreError } from '../../../../src/contract/errors.ts'
import { type FetchContext, fetchPage } from './fetch-page.ts'
import type { StoredPage } from './page-store.ts'
import { RobotsPolicy } from './robots-policy.ts'

const MAX_CONCURRENT_REQUESTS = 2
const MAX_QUEUED_PAGES = 50_000
/** Bounds the requests of sites whose pages are mostly duplicates or not pages. */
const MAX_REQUESTS_PER_PAGE = 5

export interface CrawlOptions {
  context: FetchContext
  seeds: AsyncIterable<string> | Iterable<string>
  maxPages: number
  /** Link depth; 0 reads only the seeds. */
  maxDepth: number
  isInSite: (url: string, first: StoredPage | undefined) => boolean
  /** Whether an error of the first page fails the crawl. */
  isFirstRequired: boolean
}

export type CrawlResult = { name: string; url: string; page: StoredPage } | { name: string; problem: string }

interface QueuedPage {
  url: string
  depth: number
}
type FetchOutcome = QueuedPage & { page?: StoredPage | undefined; error?: unknown }

export async function* crawl(options: CrawlOptions): AsyncGenerator<CrawlResult> {
  const ended = new AbortController()
  const signal = AbortSignal.any([options.context.signal, ended.signal])
  signal.throwIfAborted()
  try {
    yield* crawlPages({ ...options, context: { ...options.context, signal } })
  } finally {
    ended.abort() // also when the consumer stops iterating
  }
}

async function* crawlPages(options: CrawlOptions): AsyncGenerator<CrawlResult> {
  const { context, maxPages, maxDepth, isInSite, isFirstRequired } = options
  const seeds = getIterator(options.seeds)
  const queue: QueuedPage[] = []
  const queuedUrls = new Set<string>()
  const doneUrls = new Set<string>()
  const hashes = new Set<string>()
  const pending: Promise<FetchOutcome>[] = []
  const robots = new RobotsPolicy(context)
  let first: StoredPage | undefined
  let failure: { error: unknown } | undefined
  let requestCount = 0
  let resultCount = 0

  const next = async (): Promise<QueuedPage | undefined> => {
    if (queue.length > 0) return queue.shift()
    if (failure) return undefined
    try {
      const { value, done } = await seeds.next()
      return done ? undefined : { url: value, depth: 0 }
    } catch (error) {
      // Thrown after the pending pages.
      failure = { error }
      return undefined
    }
  }
  const fetchQueued = async (target: QueuedPage): Promise<FetchOutcome> => {
    try {
      await robots.waitForTurn(target.url)
      return { ...target, page: await fetchPage(target.url, context, isFirstRequired && target.depth === 0 ? 'refuse' : 'use') }
    } catch (error) {
      return { ...target, error }
    }
  }

  for (;;) {
    // The first page defines the site, so it is fetched alone.
    while (
      pending.length < (first || !isFirstRequired ? MAX_CONCURRENT_REQUESTS : 1) &&
      resultCount + pending.length < maxPages &&
      requestCount < maxPages * MAX_REQUESTS_PER_PAGE + 20
    ) {
      const target = await next()
      if (!target) break
      if (doneUrls.has(target.url) || (target.depth === 0 && queuedUrls.has(target.url))) continue
      queuedUrls.add(target.url)
      if (!(await robots.isAllowed(target.url))) {
        if (isFirstRequired && requestCount === 0)
          throw new CadreError('FORBIDDEN', `The robots.txt of ${new URL(target.url).host} disallows ${target.url}.`)
        continue
      }
      requestCount++
      pending.push(fetchQueued(target))
    }
    const outcome = await pending.shift()
    if (!outcome) {
      if (failure) throw failure.error
      return
    }
    context.signal.throwIfAborted()
    const { url, depth, page, error } = outcome
    const isDecisive = isFirstRequired && first === undefined
    if (error !== undefined && (isDecisive || !(error instanceof CadreError))) throw error
    if (error !== undefined && !doneUrls.has(url)) {
      doneUrls.add(url)
      resultCount++
      yield { name: url, problem: (error as CadreError).message }
    }
    if (!page) {
      if (isDecisive) throw new CadreError('UNSUPPORTED_MEDIA_TYPE', `${url} has an unsupported content type.`)
      continue
    }
    first ??= page
    if (!isInSite(page.url, first)) continue
    const name = getPageName(page, (candidate) => isInSite(candidate, first))
    const isKnown = doneUrls.has(name) || hashes.has(page.hash)
    for (const alias of [name, page.url, url]) {
      doneUrls.add(alias)
      queuedUrls.add(alias)
    }
    hashes.add(page.hash)
    if (!isKnown) {
      resultCount++
      yield { name, url, page }
    }
    if (depth >= maxDepth) continue
    for (const link of page.links) {
      if (queuedUrls.has(link) || queue.length >= MAX_QUEUED_PAGES || !isInSite(link, first)) continue
      queuedUrls.add(link)
      queue.push({ url: link, depth: depth + 1 })
    }
  }
}

/** Returns the canonical URL of a page, unless the site declares its front page on every page. */
function getPageName({ url, canonical }: StoredPage, isInSite: (url: string) => boolean): string {
  if (canonical === undefined || !isInSite(canonical)) return url
  return new URL(canonical).pathname === '/' && new URL(url).pathname !== '/' ? url : canonical
}

function getIterator(seeds: AsyncIterable<string> | Iterable<string>): AsyncIterator<string> | Iterator<string> {
  return Symbol.asyncIterator in seeds ? seeds[Symbol.asyncIterator]() : seeds[Symbol.iterator]()
}
