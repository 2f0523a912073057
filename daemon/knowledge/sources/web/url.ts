/** Sources of type url: a page, the pages of a site, or those of a sitemap. */
import { CadreError } from '../../../../src/contract/errors.ts'
import { plainAddress } from '../../../outbound/address.ts'
import type { Found, SourceOptions } from '../found.ts'
import { type Crawled, type CrawlOptions, crawl } from './crawl.ts'
import { type Browsing, fetchPage } from './page.ts'
import { PageStore, type StoredPage } from './page-store.ts'
import { sitemapPages } from './sitemap.ts'
import { plainPage, siteOf } from './web-address.ts'

const DEFAULT_DEPTH = 2
const DEFAULT_PAGES = 100
/** A site lists in its sitemap what it wants read. */
const DEFAULT_LISTED_PAGES = 1_000

interface Configured {
  url: string
  mode?: 'page' | 'site' | 'sitemap'
  max_depth?: number
  max_pages?: number
  allow_private_network?: boolean
}

export async function* findPages({ configuration, signal, work, outbound }: SourceOptions): AsyncGenerator<Found> {
  const { url, mode = 'page', max_depth, max_pages, allow_private_network } = configuration as unknown as Configured
  const address = plainPage(plainAddress('configuration.url', url))
  const store = new PageStore(work)
  const browsing: Browsing = { outbound, store, signal, allowPrivateNetwork: allow_private_network === true }
  if (mode === 'page') yield await onePage(address, browsing)
  else {
    const options = mode === 'site' ? siteOptions(address, max_depth ?? DEFAULT_DEPTH) : sitemapOptions(address, browsing)
    const maxPages = max_pages ?? (mode === 'site' ? DEFAULT_PAGES : DEFAULT_LISTED_PAGES)
    for await (const crawled of crawl({ ...options, maxPages, browsing })) yield documentOf(crawled, store)
  }
  await store.sweep()
}

type Route = Omit<CrawlOptions, 'browsing' | 'maxPages'>

function siteOptions(address: string, maxDepth: number): Route {
  const { origin } = new URL(address)
  // The address given may lead to another origin (http to https, with www): that one is the site, too.
  const belongs = (page: string, first: StoredPage | undefined) => {
    const of = new URL(page).origin
    return of === origin || (first !== undefined && of === new URL(first.url).origin)
  }
  return { from: [address], maxDepth, belongs, firstDecides: true }
}

function sitemapOptions(address: string, browsing: Browsing): Route {
  return {
    from: sitemapPages(new URL(address).href, browsing),
    maxDepth: 0,
    belongs: (page) => siteOf(page) === siteOf(address),
    firstDecides: false,
  }
}

/** A page that somebody named is fetched as a browser would; robots.txt is for those who follow links. */
async function onePage(address: string, browsing: Browsing): Promise<Found> {
  const page = await fetchPage(address, browsing, 'refuse')
  if (!page)
    throw new CadreError('UNSUPPORTED_MEDIA_TYPE', `${address} is no page that can be read: it has another content type.`, {
      hint: 'Pages, text, PDF and JSON can be read.',
    })
  return documentOf({ name: address, address, page }, browsing.store)
}

function documentOf(crawled: Crawled, store: PageStore): Found {
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
    type: typeOf(contentType),
    metadata: { url, ...(title === undefined ? {} : { title }), ...(contentType === '' ? {} : { content_type: contentType }) },
    read: () => store.read(address, hash),
  }
}

/** Addresses seldom end in a file type, but pages say what they are. */
function typeOf(contentType: string): string {
  if (/html/i.test(contentType)) return 'html'
  const [, kind = ''] = /^\s*[a-z]+\/(?:[\w.-]+\+)?([\w-]+)/i.exec(contentType) ?? []
  return (
    { pdf: 'pdf', json: 'json', xml: 'xml', csv: 'csv', markdown: 'md', 'tab-separated-values': 'tsv', yaml: 'yaml' }[kind.toLowerCase()] ??
    'txt'
  )
}
