/** Fetches one page with a conditional request and extracts its links. */
import { setTimeout as pause } from 'node:timers/promises'
import { findTypeByMediaType, getDocumentType, IMAGE_TYPES } from '../../../../src/contract/document-types.ts'
import { CadreError } from '../../../../src/contract/errors.ts'
import { DEFAULT_FILE_TYPES, DEFAULT_MAX_FILE_SIZE } from '../../../../src/contract/schemas/source-configurations.ts'
import { decodeBytes } from '../../../core/decode-bytes.ts'
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
const ACCEPT =
  'text/html, application/xhtml+xml, text/*;q=0.9, application/pdf;q=0.9, application/json;q=0.8, application/xml;q=0.8, */*;q=0.5'

/**
 * Returns undefined for an unsupported content type. Throws CadreError if the page cannot be fetched, unless a stored copy may be used.
 */
export async function fetchPage(url: string, context: FetchContext, stale: 'use' | 'refuse'): Promise<StoredPage | undefined> {
  const { store, signal } = context
  const stored = await store.find(url)
  try {
    const response = await requestPage(url, stored, context)
    if (response.status === 304 && stored) return stored
    if (response.status < 200 || response.status > 299) throw toHttpError(url, response.status)
    if (!isPage(response, url)) return undefined
    if (response.truncated)
      throw new CadreError('PAYLOAD_TOO_LARGE', formatSizeProblem(DEFAULT_MAX_FILE_SIZE + 1, DEFAULT_MAX_FILE_SIZE, 'at least '))
    const page = await describePage(response, url)
    await store.put(url, page, response.body)
    return page
  } catch (error) {
    signal.throwIfAborted()
    // A temporary server error must not remove pages.
    if (
      stale === 'use' &&
      stored &&
      error instanceof CadreError &&
      ['PROVIDER_ERROR', 'PROVIDER_TIMEOUT', 'UNAVAILABLE'].includes(error.code)
    )
      return stored
    throw error
  }
}

async function requestPage(
  url: string,
  stored: StoredPage | undefined,
  { outbound, allowPrivateNetwork, signal }: FetchContext,
): Promise<OutboundResponse> {
  const headers = {
    accept: ACCEPT,
    ...(stored?.etag === undefined ? {} : { 'if-none-match': stored.etag }),
    ...(stored?.lastModified === undefined ? {} : { 'if-modified-since': stored.lastModified }),
  }
  const shouldReadBody = (status: number, responseHeaders: Headers) =>
    status === 304 || (status >= 200 && status < 300 && isReadable(responseHeaders, url))
  const request = () =>
    outbound.request(url, {
      headers,
      allowPrivateNetwork,
      signal,
      shouldReadBody,
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: DEFAULT_MAX_FILE_SIZE,
    })
  const response = await request()
  const wait = Number(response.headers['retry-after'])
  if ((response.status !== 429 && response.status !== 503) || !(wait >= 0 && wait <= MAX_RETRY_AFTER_S)) return response
  await pause(wait * 1_000, undefined, { signal })
  return request()
}

function toHttpError(url: string, status: number): CadreError {
  const { host } = new URL(url)
  if (status === 404 || status === 410) return new CadreError('NOT_FOUND', `Page not found: ${host} returned status ${status}.`)
  if (status === 401 || status === 403) return new CadreError('FORBIDDEN', `Access denied: ${host} returned status ${status}.`)
  return new CadreError(status >= 500 || status === 429 ? 'UNAVAILABLE' : 'PROVIDER_ERROR', `${host} returned status ${status}.`)
}

type Headers = Readonly<Record<string, string>>

const isReadable = (headers: Headers, url: string): boolean => {
  const type = headers['content-type']
  return (
    type === undefined ||
    findTypeByMediaType(type) !== undefined ||
    (/^\s*(text\/|application\/(json|xhtml\+xml|xml|x-tex|x-subrip|[a-z.-]+\+json)\b)/i.test(type) &&
      !/^\s*text\/(css|javascript)/i.test(type)) ||
    findTypeByName(headers, url) !== undefined
  )
}

/** Servers that do not know a format send its files as downloads. Their name is in the URL or in content-disposition. */
function findTypeByName(headers: Headers, url: string): string | undefined {
  if (!/^\s*(?:$|(?:application|binary)\/(?:octet-stream|(?:x-|force-)?download)\b)/i.test(headers['content-type'] ?? '')) return undefined
  const [, name = ''] = /filename\*?\s*=\s*"?([^";]{1,1000})/i.exec(headers['content-disposition'] ?? '') ?? []
  return [name.trim(), new URL(url).pathname]
    .map(getDocumentType)
    .find((type) => DEFAULT_FILE_TYPES.includes(type) && !IMAGE_TYPES.includes(type))
}

/** Without a content type and a name, only text and PDF are accepted. */
function isPage({ headers, body }: OutboundResponse, url: string): boolean {
  if (headers['content-type'] !== undefined || findTypeByName(headers, url) !== undefined) return isReadable(headers, url)
  const start = Buffer.from(body.subarray(0, 1_024))
  return start.subarray(0, 5).toString('latin1') === '%PDF-' || !start.includes(0)
}

async function describePage({ body, headers, url }: OutboundResponse, requestedUrl: string): Promise<StoredPage> {
  const contentType = headers['content-type'] ?? ''
  const fileType = findTypeByName(headers, requestedUrl)
  const isHtml =
    /html/i.test(contentType) || (contentType === '' && /^\s*<(!doctype|html)/i.test(Buffer.from(body.subarray(0, 200)).toString('latin1')))
  const found = isHtml ? extractLinks(decodeHtml(body.subarray(0, MAX_HTML_LENGTH), contentType)) : undefined
  const base = found?.base !== undefined && URL.canParse(found.base, url) ? new URL(found.base, url).href : url
  const links = new Set((found?.links ?? []).map((link) => resolvePageUrl(link, base)).filter((link) => link !== undefined))
  const canonical = found?.canonical === undefined ? undefined : resolvePageUrl(found.canonical, base)
  return {
    url: normalizeUrl(url),
    contentType: isHtml && contentType === '' ? 'text/html' : contentType,
    fileType,
    hash: await hashBytes(body),
    links: [...links],
    etag: headers.etag,
    lastModified: headers['last-modified'],
    title: found?.title,
    canonical,
  }
}

function decodeHtml(body: Uint8Array, contentType: string): string {
  const start = Buffer.from(body.subarray(0, 1_024)).toString('latin1')
  const charset = /charset\s*=\s*["']?([\w-]+)/i.exec(contentType)?.[1] ?? /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1]
  try {
    return decodeBytes(body, charset ?? 'utf-8')
  } catch {
    // Unknown character set: links are ASCII.
    return Buffer.from(body).toString('latin1')
  }
}
