/** Lists the pages of a sitemap: XML or text, also compressed and nested. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { decodeXML } from 'entities'
import { CadreError } from '../../../../src/contract/errors.ts'
import type { FetchContext } from './fetch-page.ts'
import { getSite, resolvePageUrl } from './page-url.ts'

const gunzipAsync = promisify(gunzip)
/** The limit of the sitemap protocol. */
const MAX_SITEMAP_BYTES = 50 * 1024 * 1024
const MAX_SITEMAPS = 500
const REQUEST_TIMEOUT_MS = 60_000

/** Throws the error of a nested sitemap only after all others have been read. */
export async function* listSitemapPages(url: string, context: FetchContext): AsyncGenerator<string> {
  const site = getSite(url)
  const pending = [url]
  const seen = new Set(pending)
  let failure: unknown
  for (let count = 0; pending.length > 0 && count < MAX_SITEMAPS; count++) {
    const next = pending.shift() as string
    try {
      const { pages, sitemaps } = parseSitemap(await fetchSitemap(next, context), next)
      for (const page of pages) if (getSite(page) === site) yield page
      for (const sitemap of sitemaps) {
        if (getSite(sitemap) !== site || seen.has(sitemap)) continue
        seen.add(sitemap)
        pending.push(sitemap)
      }
    } catch (error) {
      context.signal.throwIfAborted()
      if (next === url) throw error
      failure ??= error
    }
  }
  if (failure) throw failure
}

async function fetchSitemap(url: string, { outbound, allowPrivateNetwork, signal }: FetchContext): Promise<string> {
  const response = await outbound.request(url, {
    allowPrivateNetwork,
    signal,
    timeoutMs: REQUEST_TIMEOUT_MS,
    maxBytes: MAX_SITEMAP_BYTES,
  })
  if (response.status !== 200)
    throw new CadreError('UNAVAILABLE', `The sitemap ${url} cannot be read: the server returned status ${response.status}.`)
  if (response.truncated) throw createSizeError(url)
  const isCompressed = response.body[0] === 0x1f && response.body[1] === 0x8b
  try {
    return Buffer.from(isCompressed ? await gunzipAsync(response.body, { maxOutputLength: MAX_SITEMAP_BYTES }) : response.body).toString(
      'utf8',
    )
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw createSizeError(url)
    throw new CadreError('PROVIDER_ERROR', `The sitemap ${url} is damaged: it cannot be decompressed.`, { cause })
  }
}

const createSizeError = (url: string) =>
  new CadreError('PAYLOAD_TOO_LARGE', `The sitemap ${url} is larger than ${MAX_SITEMAP_BYTES} bytes.`)

function parseSitemap(text: string, url: string): { pages: string[]; sitemaps: string[] } {
  const start = text.slice(0, 10_000)
  const isIndex = /<(\w+:)?sitemapindex[\s>]/i.test(start)
  if (!isIndex && !/<(\w+:)?urlset[\s>]/i.test(start)) return { pages: parseTextSitemap(text, url), sitemaps: [] }
  const locations = [...text.matchAll(/<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]]*)/gi)].map(([, location = '']) => decodeXML(location.trim()))
  if (isIndex)
    return {
      pages: [],
      sitemaps: locations
        .filter((location) => URL.canParse(location) && /^https?:/i.test(location))
        .map((location) => new URL(location).href),
    }
  return { pages: locations.map((location) => resolvePageUrl(location, url)).filter((page) => page !== undefined), sitemaps: [] }
}

/** Parses a plain text sitemap with one URL per line. */
function parseTextSitemap(text: string, url: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\s+/)
  if (/^\s*</.test(text) || !lines.some((line) => /^https?:\/\//i.test(line)))
    throw new CadreError('UNSUPPORTED_MEDIA_TYPE', `${url} is not a sitemap.`, { hint: 'Use mode page or site for a web page.' })
  return lines
    .filter((line) => /^https?:\/\//i.test(line))
    .map((line) => resolvePageUrl(line, url))
    .filter((page) => page !== undefined)
}
