/** Finds the documents of url sources: a page, the pages of a site, or those of a sitemap. */
import { findTypeByMediaType } from '../../../../src/contract/document-types.ts'
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
/** Higher than for sites: a sitemap lists the pages that its site wants to be read. */
const DEFAULT_MAX_SITEMAP_PAGES = 1_000

interface UrlConfiguration {
  url: string
  mode?: 'page' | 'site' | 'sitemap'
  max_depth?: number
  max_pages?: number
  allow_private_network?: boolean
}

export async function* findPages({ configuration, signal, workDirectory, outbound }: SourceOptions): AsyncGenerator<SourceDocument> {
  const { url: configuredUrl, mode = 'page', max_depth, max_pages, allow_private_network } = configuration as unknown as UrlConfiguration
  const url = normalizeUrl(parseHttpUrl('configuration.url', configuredUrl))
  const store = new PageStore(workDirectory)
  const context: FetchContext = { outbound, store, signal, allowPrivateNetwork: allow_private_network === true }
  if (mode === 'page') yield await fetchSinglePage(url, context)
  else {
    const scope = mode === 'site' ? createSiteScope(url, max_depth ?? DEFAULT_MAX_DEPTH) : createSitemapScope(url, context)
    const maxPages = max_pages ?? (mode === 'site' ? DEFAULT_MAX_PAGES : DEFAULT_MAX_SITEMAP_PAGES)
    for await (const result of crawl({ ...scope, maxPages, context })) yield createPageDocument(result, store)
  }
  await store.deleteUnused()
}

type CrawlScope = Omit<CrawlOptions, 'context' | 'maxPages'>

function createSiteScope(url: string, maxDepth: number): CrawlScope {
  const { origin } = new URL(url)
  // The URL may redirect to another origin (to https, or with www), which then also belongs to the site.
  const isInSite = (page: string, first: StoredPage | undefined) => {
    const pageOrigin = new URL(page).origin
    return pageOrigin === origin || (first !== undefined && pageOrigin === new URL(first.url).origin)
  }
  return { seeds: [url], maxDepth, isInSite, isFirstRequired: true }
}

function createSitemapScope(url: string, context: FetchContext): CrawlScope {
  return {
    seeds: listSitemapPages(url, context),
    maxDepth: 0,
    isInSite: (page) => getSite(page) === getSite(url),
    isFirstRequired: false,
  }
}

/** Ignores robots.txt, which applies to crawlers and not to a page that a user has configured. */
async function fetchSinglePage(url: string, context: FetchContext): Promise<SourceDocument> {
  const page = await fetchPage(url, context, 'refuse')
  if (!page)
    throw new CadreError('UNSUPPORTED_MEDIA_TYPE', `${url} has an unsupported content type.`, {
      hint: 'Supported types are HTML, text, PDF, Office documents, mails, archives, JSON and XML.',
    })
  return createPageDocument({ name: url, url, page }, context.store)
}

function createPageDocument(result: CrawlResult, store: PageStore): SourceDocument {
  if ('problem' in result)
    return {
      name: result.name,
      fingerprint: '',
      problem: result.problem,
      metadata: { url: result.name },
      read: async () => Promise.reject(new CadreError('UNAVAILABLE', result.problem)),
    }
  const { name, page } = result
  const { url, title, contentType, fileType, hash } = page
  return {
    name,
    fingerprint: hash,
    type: fileType ?? getFileType(contentType),
    metadata: { url, title, ...(contentType === '' ? {} : { content_type: contentType }) },
    read: () => store.read(result.url, hash),
  }
}

/** URLs rarely end in a file type, so the content type decides. */
function getFileType(contentType: string): string {
  if (/html/i.test(contentType)) return 'html'
  const document = findTypeByMediaType(contentType)
  if (document !== undefined) return document
  const [, kind = ''] = /^\s*[a-z]+\/(?:[\w.-]+\+)?([\w-]+)/i.exec(contentType) ?? []
  return TYPE_BY_SUBTYPE[kind.toLowerCase()] ?? 'txt'
}

/** By the part of the media type after the slash. */
const TYPE_BY_SUBTYPE: Record<string, string> = {
  json: 'json',
  xml: 'xml',
  csv: 'csv',
  markdown: 'md',
  'tab-separated-values': 'tsv',
  yaml: 'yaml',
  calendar: 'ics',
  vcard: 'vcf',
  vtt: 'vtt',
  'x-subrip': 'srt',
  'x-tex': 'tex',
}
