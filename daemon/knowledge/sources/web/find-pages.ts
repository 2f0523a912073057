/** Sources of type url: a page, the pages of a site, or those of a sitemap. */
import { CadreError } from '../../../../src/contract/errors.ts'
import { parseHttpUrl } from '../../../outbound/parse-url.ts'
import type { SourceDocument, SourceOptions } from '../source-document.ts'
import { type CrawlOptions, type CrawlResult, crawl } from './crawl.ts'
import { type FetchContext, fetchPage } from './fetch-page.ts'
import { PageStore, type StoredPage } from './page-store.ts'
import { getSite, normalizeUrl } from './page-url.ts'
import { listSitemapPages } from './sitemap.ts'

const DEFAULT_MAX_DEPTH = 2
const DEFAULT_MAX_PAGES = 100
/** A site lists in its sitemap what it wants read. */
const DEFAULT_MAX_SITEMAP_PAGES = 1_000

interface UrlConfiguration {
  url: string
  mode?: 'page' | 'site' | 'sitemap'
  max_depth?: number
  max_pages?: number
  allow_private_network?: boolean
}

export async function* findPages({ configuration, signal, workDirectory: work, outbound }: SourceOptions): AsyncGenerator<SourceDocument> {
  const { url, mode = 'page', max_depth, max_pages, allow_private_network } = configuration as unknown as UrlConfiguration
  const address = normalizeUrl(parseHttpUrl('configuration.url', url))
  const store = new PageStore(work)
  const browsing: FetchContext = { outbound, store, signal, allowPrivateNetwork: allow_private_network === true }
  if (mode === 'page') yield await fetchSinglePage(address, browsing)
  else {
    const options = mode === 'site' ? createSiteScope(address, max_depth ?? DEFAULT_MAX_DEPTH) : createSitemapScope(address, browsing)
    const maxPages = max_pages ?? (mode === 'site' ? DEFAULT_MAX_PAGES : DEFAULT_MAX_SITEMAP_PAGES)
    for await (const crawled of crawl({ ...options, maxPages, context: browsing })) yield createPageDocument(crawled, store)
  }
  await store.deleteUnused()
}

type CrawlScope = Omit<CrawlOptions, 'context' | 'maxPages'>

function createSiteScope(address: string, maxDepth: number): CrawlScope {
  const { origin } = new URL(address)
  // The address given may lead to another origin (http to https, with www): that one is the site, too.
  const belongs = (page: string, first: StoredPage | undefined) => {
    const of = new URL(page).origin
    return of === origin || (first !== undefined && of === new URL(first.url).origin)
  }
  return { seeds: [address], maxDepth, isInSite: belongs, isFirstRequired: true }
}

function createSitemapScope(address: string, browsing: FetchContext): CrawlScope {
  return {
    seeds: listSitemapPages(new URL(address).href, browsing),
    maxDepth: 0,
    isInSite: (page) => getSite(page) === getSite(address),
    isFirstRequired: false,
  }
}

/** A page that somebody named is fetched as a browser would; robots.txt is for those who follow links. */
async function fetchSinglePage(address: string, browsing: FetchContext): Promise<SourceDocument> {
  const page = await fetchPage(address, browsing, 'refuse')
  if (!page)
    throw new CadreError('UNSUPPORTED_MEDIA_TYPE', `${address} is no page that can be read: it has another content type.`, {
      hint: 'Pages, text, PDF and JSON can be read.',
    })
  return createPageDocument({ name: address, address, page }, browsing.store)
}

function createPageDocument(crawled: CrawlResult, store: PageStore): SourceDocument {
  if ('problem' in crawled)
    return {
      name: crawled.name,
      fingerprint: '',
      problem: crawled.problem,
      metadata: { url: crawled.name },
      read: async () => Promise.reject(new CadreError('UNAVAILABLE', crawled.problem)),
    }
  const { name, address, page } = crawled
  const { url, title, contentType, hash } = page
  return {
    name,
    fingerprint: hash,
    type: getFileType(contentType),
    metadata: { url, ...(title === undefined ? {} : { title }), ...(contentType === '' ? {} : { content_type: contentType }) },
    read: () => store.read(address, hash),
  }
}

/** Addresses seldom end in a file type, but pages say what they are. */
function getFileType(contentType: string): string {
  if (/html/i.test(contentType)) return 'html'
  const [, kind = ''] = /^\s*[a-z]+\/(?:[\w.-]+\+)?([\w-]+)/i.exec(contentType) ?? []
  return (
    { pdf: 'pdf', json: 'json', xml: 'xml', csv: 'csv', markdown: 'md', 'tab-separated-values': 'tsv', yaml: 'yaml' }[kind.toLowerCase()] ??
    'txt'
  )
}
