/** Fetching one page: conditionally, within limits, with its links read where it has any. */
import { setTimeout as pause } from 'node:timers/promises'
import { CadreError } from '../../../../src/contract/errors.ts'
import { DEFAULT_MAX_FILE_SIZE } from '../../../../src/contract/families/source-configurations.ts'
import type { Outbound, OutboundResponse } from '../../../outbound/client.ts'
import { formatSizeProblem } from '../files/read-file-within.ts'
import { extractLinks, MAX_HTML_LENGTH } from './extract-links.ts'
import { hashBytes, type PageStore, type StoredPage } from './page-store.ts'
import { normalizeUrl, resolvePageUrl } from './page-url.ts'

export interface FetchContext {
  outbound: Outbound
  store: PageStore
  allowPrivateNetwork: boolean
  signal: AbortSignal
}

const REQUEST_TIMEOUT_MS = 30_000
const MAX_RETRY_AFTER_S = 30
const ACCEPT = 'text/html, application/xhtml+xml, text/*;q=0.9, application/pdf;q=0.9, application/json;q=0.8, application/xml;q=0.8'

/** The page, or nothing where there is something else than a page. Throws CadreError when it cannot be had. */
export async function fetchPage(address: string, browsing: FetchContext, stale: 'use' | 'refuse'): Promise<StoredPage | undefined> {
  const { store, signal } = browsing
  const known = await store.find(address)
  try {
    const answer = await requestPage(address, known, browsing)
    if (answer.status === 304 && known) return known
    if (answer.status < 200 || answer.status > 299) throw toHttpError(address, answer.status)
    if (!isPage(answer)) return undefined
    if (answer.truncated)
      throw new CadreError(
        'PAYLOAD_TOO_LARGE',
        formatSizeProblem(DEFAULT_MAX_FILE_SIZE + 1, DEFAULT_MAX_FILE_SIZE).replace('has', 'has at least'),
      )
    const page = await describePage(answer)
    await store.put(address, page, answer.body)
    return page
  } catch (error) {
    signal.throwIfAborted()
    // A server that is down for the moment does not make its pages vanish.
    if (
      stale === 'use' &&
      known &&
      error instanceof CadreError &&
      ['PROVIDER_ERROR', 'PROVIDER_TIMEOUT', 'UNAVAILABLE'].includes(error.code)
    )
      return known
    throw error
  }
}

async function requestPage(
  address: string,
  known: StoredPage | undefined,
  { outbound, allowPrivateNetwork, signal }: FetchContext,
): Promise<OutboundResponse> {
  const headers = {
    accept: ACCEPT,
    ...(known?.etag === undefined ? {} : { 'if-none-match': known.etag }),
    ...(known?.lastModified === undefined ? {} : { 'if-modified-since': known.lastModified }),
  }
  const wanted = (status: number, { 'content-type': type }: Readonly<Record<string, string>>) =>
    status === 304 || (status >= 200 && status < 300 && isReadable(type))
  const request = () =>
    outbound.request(address, {
      headers,
      allowPrivateNetwork,
      signal,
      shouldReadBody: wanted,
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: DEFAULT_MAX_FILE_SIZE,
    })
  const answer = await request()
  const wait = Number(answer.headers['retry-after'])
  if ((answer.status !== 429 && answer.status !== 503) || !(wait >= 0 && wait <= MAX_RETRY_AFTER_S)) return answer
  await pause(wait * 1_000, undefined, { signal })
  return request()
}

function toHttpError(address: string, status: number): CadreError {
  const { host } = new URL(address)
  if (status === 404 || status === 410) return new CadreError('NOT_FOUND', `There is no such page (${host} answered ${status}).`)
  if (status === 401 || status === 403) return new CadreError('FORBIDDEN', `${host} does not let Cadre read it (it answered ${status}).`)
  return new CadreError(status >= 500 || status === 429 ? 'UNAVAILABLE' : 'PROVIDER_ERROR', `${host} answered ${status}.`)
}

const isReadable = (type: string | undefined): boolean =>
  type === undefined ||
  (/^\s*(text\/|application\/(pdf|json|xhtml\+xml|xml|[a-z.-]+\+json)\b)/i.test(type) &&
    !/^\s*text\/(css|javascript|calendar|vcard)/i.test(type))

/** Without a type, bytes that are neither text nor PDF are something else. */
function isPage({ headers, body }: OutboundResponse): boolean {
  if (headers['content-type'] !== undefined) return isReadable(headers['content-type'])
  const start = Buffer.from(body.subarray(0, 1_024))
  return start.subarray(0, 5).toString('latin1') === '%PDF-' || !start.includes(0)
}

async function describePage({ body, headers, url }: OutboundResponse): Promise<StoredPage> {
  const contentType = headers['content-type'] ?? ''
  const html =
    /html/i.test(contentType) || (contentType === '' && /^\s*<(!doctype|html)/i.test(Buffer.from(body.subarray(0, 200)).toString('latin1')))
  const found = html ? extractLinks(decodeHtml(body.subarray(0, MAX_HTML_LENGTH), contentType)) : undefined
  const base = found?.base !== undefined && URL.canParse(found.base, url) ? new URL(found.base, url).href : url
  const links = new Set((found?.links ?? []).map((link) => resolvePageUrl(link, base)).filter((link) => link !== undefined))
  const canonical = found?.canonical === undefined ? undefined : resolvePageUrl(found.canonical, base)
  return {
    url: normalizeUrl(url),
    contentType: html && contentType === '' ? 'text/html' : contentType,
    hash: await hashBytes(body),
    links: [...links],
    ...(headers.etag === undefined ? {} : { etag: headers.etag }),
    ...(headers['last-modified'] === undefined ? {} : { lastModified: headers['last-modified'] }),
    ...(found?.title === undefined ? {} : { title: found.title }),
    ...(canonical === undefined ? {} : { canonical }),
  }
}

function decodeHtml(body: Uint8Array, contentType: string): string {
  const start = Buffer.from(body.subarray(0, 1_024)).toString('latin1')
  const charset = /charset\s*=\s*["']?([\w-]+)/i.exec(contentType)?.[1] ?? /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1]
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(body)
  } catch {
    // A character set nobody knows: its addresses are ASCII in any case.
    return Buffer.from(body).toString('latin1')
  }
}
