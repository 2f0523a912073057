/** Sitemaps: the addresses a site lists of itself, also in lists of lists and compressed. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { CadreError } from '../../../../src/contract/errors.ts'
import { decoded } from './extract-links.ts'
import type { FetchContext } from './fetch-page.ts'
import { getSite, resolvePageUrl } from './page-url.ts'

const gunzipAsync = promisify(gunzip)
/** What the protocol allows a file of its kind. */
const MAX_SITEMAP_BYTES = 50 * 1024 * 1024
const MAX_SITEMAPS = 500
const REQUEST_TIMEOUT_MS = 60_000

/** The pages of a sitemap. Lists inside it that cannot be read are told at the end, when the others have been. */
export async function* listSitemapPages(address: string, browsing: FetchContext): AsyncGenerator<string> {
  const site = getSite(address)
  const pending = [address]
  const seen = new Set(pending)
  let failure: unknown
  for (let read = 0; pending.length > 0 && read < MAX_SITEMAPS; read++) {
    const next = pending.shift() as string
    try {
      const { pages, sitemaps } = parseSitemap(await fetchSitemap(next, browsing), next)
      for (const page of pages) if (getSite(page) === site) yield page
      for (const sitemap of sitemaps) {
        if (getSite(sitemap) !== site || seen.has(sitemap)) continue
        seen.add(sitemap)
        pending.push(sitemap)
      }
    } catch (error) {
      browsing.signal.throwIfAborted()
      if (next === address) throw error
      failure ??= error
    }
  }
  if (failure) throw failure
}

async function fetchSitemap(address: string, { outbound, allowPrivateNetwork, signal }: FetchContext): Promise<string> {
  const answer = await outbound.request(address, {
    allowPrivateNetwork,
    signal,
    timeoutMs: REQUEST_TIMEOUT_MS,
    maxBytes: MAX_SITEMAP_BYTES,
  })
  if (answer.status !== 200)
    throw new CadreError('UNAVAILABLE', `The sitemap ${address} cannot be read: the server answered ${answer.status}.`)
  if (answer.truncated) throw createSizeError(address)
  const packed = answer.body[0] === 0x1f && answer.body[1] === 0x8b
  try {
    return Buffer.from(packed ? await gunzipAsync(answer.body, { maxOutputLength: MAX_SITEMAP_BYTES }) : answer.body).toString('utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw createSizeError(address)
    throw new CadreError('PROVIDER_ERROR', `The sitemap ${address} is damaged: it cannot be unpacked.`, { cause })
  }
}

const createSizeError = (address: string) =>
  new CadreError('PAYLOAD_TOO_LARGE', `The sitemap ${address} is larger than ${MAX_SITEMAP_BYTES} bytes.`)

function parseSitemap(text: string, address: string): { pages: string[]; sitemaps: string[] } {
  const start = text.slice(0, 10_000)
  const isIndex = /<(\w+:)?sitemapindex[\s>]/i.test(start)
  if (!isIndex && !/<(\w+:)?urlset[\s>]/i.test(start)) return { pages: parseTextSitemap(text, address), sitemaps: [] }
  const found = [...text.matchAll(/<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]]*)/gi)].map(([, location = '']) => decoded(location.trim()))
  if (isIndex)
    return { pages: [], sitemaps: found.filter((one) => URL.canParse(one) && /^https?:/i.test(one)).map((one) => new URL(one).href) }
  return { pages: found.map((one) => resolvePageUrl(one, address)).filter((one) => one !== undefined), sitemaps: [] }
}

/** A sitemap may also be plain text, an address a line. */
function parseTextSitemap(text: string, address: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\s+/)
  if (/^\s*</.test(text) || !lines.some((line) => /^https?:\/\//i.test(line)))
    throw new CadreError('UNSUPPORTED_MEDIA_TYPE', `${address} is not a sitemap.`, { hint: 'Use mode page or site for a web page.' })
  return lines
    .filter((line) => /^https?:\/\//i.test(line))
    .map((line) => resolvePageUrl(line, address))
    .filter((one) => one !== undefined)
}
