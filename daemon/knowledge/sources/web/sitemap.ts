/** Sitemaps: the addresses a site lists of itself, also in lists of lists and compressed. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { CadreError } from '../../../../src/contract/errors.ts'
import { decoded } from './html-links.ts'
import type { Browsing } from './page.ts'
import { pageAddress, siteOf } from './web-address.ts'

const unpack = promisify(gunzip)
/** What the protocol allows a file of its kind. */
const MOST_BYTES = 50 * 1024 * 1024
const MOST_SITEMAPS = 500
const TIMEOUT_MS = 60_000

/** The pages of a sitemap. Lists inside it that cannot be read are told at the end, when the others have been. */
export async function* sitemapPages(address: string, browsing: Browsing): AsyncGenerator<string> {
  const site = siteOf(address)
  const pending = [address]
  const seen = new Set(pending)
  let failure: unknown
  for (let read = 0; pending.length > 0 && read < MOST_SITEMAPS; read++) {
    const next = pending.shift() as string
    try {
      const { pages, sitemaps } = contentOf(await sitemapText(next, browsing), next)
      for (const page of pages) if (siteOf(page) === site) yield page
      for (const sitemap of sitemaps) {
        if (siteOf(sitemap) !== site || seen.has(sitemap)) continue
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

async function sitemapText(address: string, { outbound, allowPrivateNetwork, signal }: Browsing): Promise<string> {
  const answer = await outbound.request(address, { allowPrivateNetwork, signal, timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES })
  if (answer.status !== 200)
    throw new CadreError('UNAVAILABLE', `The sitemap ${address} cannot be read: the server answered ${answer.status}.`)
  if (answer.truncated) throw tooLarge(address)
  const packed = answer.body[0] === 0x1f && answer.body[1] === 0x8b
  try {
    return Buffer.from(packed ? await unpack(answer.body, { maxOutputLength: MOST_BYTES }) : answer.body).toString('utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(address)
    throw new CadreError('PROVIDER_ERROR', `The sitemap ${address} is damaged: it cannot be unpacked.`, { cause })
  }
}

const tooLarge = (address: string) => new CadreError('PAYLOAD_TOO_LARGE', `The sitemap ${address} is larger than ${MOST_BYTES} bytes.`)

function contentOf(text: string, address: string): { pages: string[]; sitemaps: string[] } {
  const start = text.slice(0, 10_000)
  const isIndex = /<(\w+:)?sitemapindex[\s>]/i.test(start)
  if (!isIndex && !/<(\w+:)?urlset[\s>]/i.test(start)) return { pages: listed(text, address), sitemaps: [] }
  const found = [...text.matchAll(/<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]]*)/gi)].map(([, location = '']) => decoded(location.trim()))
  if (isIndex)
    return { pages: [], sitemaps: found.filter((one) => URL.canParse(one) && /^https?:/i.test(one)).map((one) => new URL(one).href) }
  return { pages: found.map((one) => pageAddress(one, address)).filter((one) => one !== undefined), sitemaps: [] }
}

/** A sitemap may also be plain text, an address a line. */
function listed(text: string, address: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\s+/)
  if (/^\s*</.test(text) || !lines.some((line) => /^https?:\/\//i.test(line)))
    throw new CadreError('UNSUPPORTED_MEDIA_TYPE', `${address} is not a sitemap.`, { hint: 'Use mode page or site for a web page.' })
  return lines
    .filter((line) => /^https?:\/\//i.test(line))
    .map((line) => pageAddress(line, address))
    .filter((one) => one !== undefined)
}
