/** Reads Outlook messages (.msg). */
import { readCompoundFile, type Storage } from '../compound-file.ts'
import { DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { ENCODINGS_BY_CODE_PAGE } from '../rtf/header-tables.ts'
import { readRtf } from '../rtf/read-rtf.ts'
import { decompressRtf } from './compressed-rtf.ts'
import { decodeCharset } from './decode-words.ts'
import { createMailDate, formatMail, type Mail, type MailDate, parseMailDate } from './format-mail.ts'

/** Numbers of properties. */
const SUBJECT = '0037'
const BODY = '1000'
const HTML = '1013'
const COMPRESSED_RTF = '1009'
const SENDER_NAME = '0c1a'
const SENDER_ADDRESSES = ['5d01', '0c1f']
const DISPLAY_TO = '0e04'
const DISPLAY_CC = '0e03'
const TRANSPORT_HEADERS = '007d'
const DATES = [0x0039, 0x0e06, 0x3007]
const FILE_NAMES = ['3707', '3704', '3001']
const ATTACHED_BYTES = '__substg1.0_37010102'
const ATTACHED_MESSAGE = '__substg1.0_3701000d'
const ATTACHMENT = /^__attach_version1\.0_/
/** Between 1601, at which Windows starts to count, and 1970. */
const EPOCH_MILLISECONDS = 11_644_473_600_000
const MAX_DEPTH = 4

export function readOutlookMail(bytes: Uint8Array): ParsedDocument {
  return formatMail(parseMessage(openMessage(bytes)))
}

export function* listOutlookFiles(bytes: Uint8Array): Generator<{ name: string; read: () => Buffer }> {
  yield* listFiles(openMessage(bytes), 1)
}

function openMessage(bytes: Uint8Array): Properties {
  const message = new Properties(readCompoundFile(bytes))
  if (!message.isMessage) throw new DocumentReadError('This is not an Outlook message, although it has the same container format.')
  return message
}

function parseMessage(message: Properties): Mail {
  const address = SENDER_ADDRESSES.map((property) => message.readText(property)).find((text) => text.includes('@')) ?? ''
  const name = message.readText(SENDER_NAME)
  const headers = message.readText(TRANSPORT_HEADERS)
  const sentAt = /^date:\s*(.*)$/im.exec(headers)?.[1]
  const html = message.readHtml()
  const text = message.readText(BODY)
  return {
    subject: message.readText(SUBJECT),
    from: address === '' || address === name ? name : `${name} <${address}>`.trim(),
    to: message.readText(DISPLAY_TO),
    cc: message.readText(DISPLAY_CC),
    date: (sentAt === undefined ? undefined : parseMailDate(sentAt)) ?? message.readDate(),
    text: text === '' && html === '' ? message.readRtf() : text,
    html,
    attachments: Array.from(listFiles(message, 1), (file) => file.name),
  }
}

/** A message in a message becomes a mail of text, because only whole files can be read. */
function* listFiles(message: Properties, depth: number): Generator<{ name: string; read: () => Buffer }> {
  for (const [name, storage] of message.storage.storages) {
    if (!ATTACHMENT.test(name)) continue
    const attachment = new Properties(storage, message.codePage)
    const embedded = findStorage(storage, ATTACHED_MESSAGE)
    const fileName = FILE_NAMES.map((property) => attachment.readText(property)).find((text) => text !== '')
    if (embedded && depth < MAX_DEPTH) {
      const mail = parseMessage(new Properties(embedded, message.codePage))
      yield { name: `${fileName ?? (mail.subject || 'mail')}.eml`, read: () => formatAsMail(mail) }
    } else if (fileName !== undefined && attachment.has(ATTACHED_BYTES))
      yield { name: fileName, read: () => attachment.read(ATTACHED_BYTES) }
  }
}

function formatAsMail({ subject, from, to, cc, date, text, html }: Mail): Buffer {
  const header = [
    ['Subject', subject],
    ['From', from],
    ['To', to],
    ['Cc', cc],
    ['Date', date?.label ?? ''],
    ['Content-Type', `text/${text === '' ? 'html' : 'plain'}; charset=utf-8`],
  ].filter(([, value]) => value !== '')
  const lines = header.map(([name, value]) => `${name}: ${value?.replaceAll(/\s+/g, ' ')}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text === '' ? html : text}`)
}

const findStorage = ({ storages }: Storage, name: string): Storage | undefined =>
  [...storages].find(([key]) => key.toLowerCase() === name)?.[1]

/** The properties of a message or an attachment: texts in streams, numbers and dates in a table. */
class Properties {
  readonly storage: Storage
  readonly #streams: Map<string, () => Buffer>
  readonly codePage: string

  constructor(storage: Storage, codePage?: string) {
    this.storage = storage
    this.#streams = new Map(Array.from(storage.streams, ([name, read]) => [name.toLowerCase(), read]))
    this.codePage = codePage ?? this.#findCodePage()
  }

  get isMessage(): boolean {
    return this.has('__properties_version1.0')
  }

  has(stream: string): boolean {
    return this.#streams.has(stream)
  }

  read(stream: string): Buffer {
    return this.#streams.get(stream)?.() ?? Buffer.alloc(0)
  }

  readText(property: string): string {
    const unicode = `__substg1.0_${property}001f`
    const text = this.has(unicode)
      ? this.read(unicode).toString('utf16le')
      : decodeCharset(this.read(`__substg1.0_${property}001e`), this.codePage)
    return text.replace(/\0+$/, '')
  }

  readHtml(): string {
    const stream = `__substg1.0_${HTML}0102`
    return this.has(stream) ? decodeCharset(this.read(stream), '') : this.readText(HTML)
  }

  readRtf(): string {
    const packed = this.read(`__substg1.0_${COMPRESSED_RTF}0102`)
    return packed.length === 0 ? '' : readRtf(decompressRtf(packed)).text
  }

  readDate(): MailDate | undefined {
    for (const property of DATES) {
      const value = this.#readNumber(property, 0x0040)
      if (value !== undefined && value > 0n) return createMailDate(Number(value / 10_000n) - EPOCH_MILLISECONDS)
    }
    return undefined
  }

  #findCodePage(): string {
    const page = Number((this.#readNumber(0x3ffd, 0x0003) ?? this.#readNumber(0x3fde, 0x0003) ?? 1252n) & 0xffffffffn)
    return ENCODINGS_BY_CODE_PAGE[page] ?? `windows-${page}`
  }

  /** Looks up a property with a fixed length: 16 bytes with type, number, flags and value, after a header. */
  #readNumber(property: number, type: number): bigint | undefined {
    const table = this.read('__properties_version1.0')
    // The header is 32 bytes in a message, 24 in an embedded one and 8 in an attachment.
    for (let offset = table.length % 16 === 0 ? 0 : 8; offset + 16 <= table.length; offset += 16)
      if (table.readUInt16LE(offset) === type && table.readUInt16LE(offset + 2) === property) return table.readBigUInt64LE(offset + 8)
    return undefined
  }
}
