/** Reads mails in the format of the internet (RFC 5322, MIME). */
import { toBuffer } from '../encoding/decode-text.ts'
import { DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { decodeCharset, decodeWords } from './decode-words.ts'
import { formatMail, type Mail, parseMailDate } from './format-mail.ts'
import { type Headers, listParts, type MimePart, readHeaders } from './mime-parts.ts'

/** File types of attachments without a name. */
const TYPE_BY_MEDIA_TYPE = new Map([
  ['application/pdf', 'pdf'],
  ['message/rfc822', 'eml'],
  ['text/calendar', 'ics'],
  ['text/vcard', 'vcf'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/csv', 'csv'],
])

export function readMail(bytes: Uint8Array): ParsedDocument {
  return formatMail(parseMail(toBuffer(bytes)))
}

/** Reads only the header. */
export function readMailHeader(bytes: Uint8Array): Pick<Mail, 'subject' | 'from' | 'date'> {
  return parseHeader(readHeaders(skipPostmark(toBuffer(bytes))).headers)
}

/** The names are not unique. */
export function* listMailAttachments(bytes: Uint8Array): Generator<{ name: string; read: () => Buffer }> {
  for (const part of listParts(skipPostmark(toBuffer(bytes)))) if (!isBody(part)) yield* toAttachment(part)
}

/** Mailboxes, and some mails that were saved from one, start with a line `From anna@example.com Mon Mar  4 …`. */
function skipPostmark(bytes: Buffer): Buffer {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
  return /^>?From /.test(start.toString('latin1', 0, 6)) ? start.subarray(start.indexOf(0x0a) + 1) : start
}

function parseHeader(headers: Headers) {
  const get = (name: string) => decodeWords(headers.get(name) ?? '').trim()
  return {
    subject: get('subject'),
    from: get('from') || get('sender'),
    to: get('to'),
    cc: get('cc'),
    date: parseMailDate(headers.get('date') ?? ''),
  }
}

function parseMail(bytes: Buffer): Mail {
  const start = skipPostmark(bytes)
  const { headers } = readHeaders(start)
  if (!['from', 'to', 'subject', 'date', 'received', 'message-id'].some((name) => headers.has(name)))
    throw new DocumentReadError('This is not a mail: it has neither a sender nor a subject.')
  const texts: string[] = []
  const pages: string[] = []
  const attachments: string[] = []
  for (const part of listParts(start)) {
    if (!isBody(part)) for (const { name } of toAttachment(part)) attachments.push(name)
    else if (/^multipart\/encrypted$/.test(part.parent)) throw new DocumentReadError('The mail is encrypted.')
    else (part.type === 'text/html' ? pages : texts).push(decodeCharset(part.read(), part.charset))
  }
  const isEncrypted = /^(?:multipart\/encrypted|application\/(?:x-)?pkcs7-mime)/i.test(headers.get('content-type') ?? '')
  if (isEncrypted && !/signed-data/i.test(headers.get('content-type') ?? '')) throw new DocumentReadError('The mail is encrypted.')
  return { ...parseHeader(headers), text: texts.join('\n\n'), html: pages.join('\n'), attachments }
}

/** Text that the mail program shows, not a file. */
const isBody = ({ type, isAttachment, filename }: MimePart): boolean =>
  (type === 'text/plain' || type === 'text/html') && !isAttachment && filename === undefined

/** Yields nothing for parts that are no documents: pictures in the text and signatures. */
function* toAttachment(part: MimePart): Generator<{ name: string; read: () => Buffer }> {
  const { type, filename, isAttachment, headers, read } = part
  if (type.startsWith('image/') && headers.has('content-id') && !isAttachment) return
  if (/^application\/(?:pgp-signature|(?:x-)?pkcs7-signature|ms-tnef)$/.test(type)) return
  const extension = TYPE_BY_MEDIA_TYPE.get(type)
  if (filename === undefined && extension === undefined) return
  const hasType = filename !== undefined && /\.[A-Za-z0-9]{1,10}$/.test(filename)
  const name =
    filename ??
    (type === 'message/rfc822' ? readMailHeader(read()).subject || 'mail' : type === 'text/calendar' ? 'invitation' : 'attachment')
  yield { name: hasType || extension === undefined ? name : `${name}.${extension}`, read }
}
