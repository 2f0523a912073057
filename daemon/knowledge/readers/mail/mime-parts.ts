/** Splits a mail into its parts. Reads bytes in linear time and decodes only what is used. */
import { decodeText } from '../encoding/decode-text.ts'
import { DocumentReadError } from '../parsed-document.ts'
import { decodeQuotedPrintable, parseParameters } from './decode-words.ts'

/** Nested parts are scanned once per level. */
const MAX_DEPTH = 20
const MAX_PARTS = 10_000
const MAX_HEADER_BYTES = 1024 * 1024

export type Headers = ReadonlyMap<string, string>

export interface MimePart {
  headers: Headers
  /** In lower case, such as text/plain. */
  type: string
  charset: string
  isAttachment: boolean
  filename: string | undefined
  /** The type of the multipart that contains the part. */
  parent: string
  /** Decodes the content. */
  read(): Buffer
}

/** Returns the headers with lower-case names and the offset of the body. The first header of a name counts. */
export function readHeaders(bytes: Buffer): { headers: Headers; bodyStart: number } {
  const isEmpty = bytes[0] === 0x0a || (bytes[0] === 0x0d && bytes[1] === 0x0a)
  const end = isEmpty ? { start: 0, next: bytes[0] === 0x0a ? 1 : 2 } : findBlankLine(bytes)
  if (end.start > MAX_HEADER_BYTES) throw new DocumentReadError('This is not a mail: its header is too long.')
  const headers = new Map<string, string>()
  const lines = decodeText(bytes.subarray(0, end.start))
    .replaceAll(/\r?\n(?=[ \t])/g, '')
    .split(/\r?\n/)
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return { headers, bodyStart: end.next }
}

function findBlankLine(bytes: Buffer): { start: number; next: number } {
  for (let index = bytes.indexOf(0x0a); index >= 0; index = bytes.indexOf(0x0a, index + 1)) {
    if (bytes[index + 1] === 0x0a) return { start: index, next: index + 2 }
    if (bytes[index + 1] === 0x0d && bytes[index + 2] === 0x0a) return { start: index, next: index + 3 }
  }
  return { start: bytes.length, next: bytes.length }
}

/** Yields the parts that are not multiparts, in order. */
export function* listParts(bytes: Buffer): Generator<MimePart> {
  let count = 0
  for (const part of listNested(bytes, '', 0)) {
    if (++count > MAX_PARTS) throw new DocumentReadError(`The mail has more than ${MAX_PARTS} parts.`)
    yield part
  }
}

function* listNested(bytes: Buffer, parent: string, depth: number): Generator<MimePart> {
  const { headers, bodyStart } = readHeaders(bytes)
  const { value, parameters } = parseParameters(headers.get('content-type') ?? 'text/plain')
  const body = bytes.subarray(bodyStart)
  const boundary = parameters.get('boundary')
  if (value.startsWith('multipart/') && boundary) {
    if (depth >= MAX_DEPTH) throw new DocumentReadError(`The mail is nested too deeply; at most ${MAX_DEPTH} levels are read.`)
    for (const part of splitMultipart(body, boundary)) yield* listNested(part, value, depth + 1)
    return
  }
  const disposition = parseParameters(headers.get('content-disposition') ?? '')
  const filename = disposition.parameters.get('filename') ?? parameters.get('name')
  yield {
    headers,
    type: /^[\w.+-]+\/[\w.+-]+$/.test(value) ? value : 'text/plain',
    charset: parameters.get('charset') ?? '',
    isAttachment: disposition.value === 'attachment',
    filename: filename?.trim() || undefined,
    parent,
    read: () => decodeBody(body, headers.get('content-transfer-encoding') ?? ''),
  }
}

/** The boundary is at the start of a line. What is before the first and after the last one is not a part. */
function* splitMultipart(body: Buffer, boundary: string): Generator<Buffer> {
  const mark = Buffer.from(`--${boundary}`)
  let start: number | undefined
  for (let index = body.indexOf(mark); index >= 0; index = body.indexOf(mark, index + mark.length)) {
    if (index > 0 && body[index - 1] !== 0x0a) continue
    const after = index + mark.length
    const isLast = body[after] === 0x2d && body[after + 1] === 0x2d
    const next = body.indexOf(0x0a, after)
    const lineEnd = next < 0 ? body.length : next
    // Another boundary may start with this one.
    if (!isLast && body.toString('latin1', after, Math.min(lineEnd, after + 100)).trim() !== '') continue
    if (start !== undefined) yield body.subarray(start, Math.max(start, index - (body[index - 2] === 0x0d ? 2 : 1)))
    if (isLast) return
    start = lineEnd + 1
  }
  // The end of the mail is missing.
  if (start !== undefined && start < body.length) yield body.subarray(start)
}

function decodeBody(body: Buffer, header: string): Buffer {
  const encoding = header.toLowerCase().trim()
  if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64')
  return encoding === 'quoted-printable' ? decodeQuotedPrintable(body) : body
}
