/** Writes a mail as a document: subject, sender, recipients, date, attachments, then its text. */
import { formatDay } from '../format-day.ts'
import { parseHtml } from '../html/parse-html.ts'
import { removeHidden } from '../html/read-html.ts'
import { writeHtml } from '../html/write-html.ts'
import { MarkdownWriter } from '../markdown-writer.ts'
import { cleanText, joinTexts, type ParsedDocument } from '../parsed-document.ts'
import { isForwarded, removeQuotedElements, removeQuotes } from './remove-quotes.ts'

export interface Mail {
  subject: string
  from: string
  to: string
  cc: string
  date: MailDate | undefined
  /** Plain text; empty if the mail has none. */
  text: string
  html: string
  /** Names of the attachments. */
  attachments: readonly string[]
}

export interface MailDate {
  /** In the time zone of the sender: 2024-03-05. */
  day: string
  /** Tuesday, 5 March 2024, 10:15 +01:00 */
  label: string
}

const MAX_LISTED_ATTACHMENTS = 50
const MAX_RECIPIENTS_LENGTH = 2_000
/** The plain text of newsletters often only says where to read them. */
const MIN_PLAIN_SHARE = 0.5

export function formatMail(mail: Mail): ParsedDocument {
  const { subject, from, to, cc, date, attachments } = mail
  const fields: [string, string][] = [
    ['From', from],
    ['To', shorten(to)],
    ['Cc', shorten(cc)],
    ['Date', date?.label ?? ''],
    ['Attachments', attachments.slice(0, MAX_LISTED_ATTACHMENTS).join(', ')],
  ]
  const header = fields.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${value}`)
  const title = formatSubject(subject)
  const text = joinTexts([`# ${title}`, header.join('\n'), chooseText(mail)], '\n\n')
  const place = joinTexts([title, formatSender(from), date?.day ?? ''], ', ')
  return { text: cleanText(text), format: 'markdown', pages: [{ number: 1, start: 0 }], title, places: { kind: 'mail', names: [place] } }
}

export const formatSubject = (subject: string): string => subject.replaceAll(/\s+/g, ' ').trim().slice(0, 300) || '(no subject)'

/** Returns the name of the first sender, or the address if there is no name. */
export function formatSender(from: string): string {
  const [, name = '', address = ''] = /^\s*"?([^"<]*)"?\s*<([^>]*)>/.exec(from) ?? []
  return (name.trim() || address || from).replaceAll(/\s+/g, ' ').trim().slice(0, 100)
}

const shorten = (recipients: string): string =>
  recipients.length > MAX_RECIPIENTS_LENGTH ? `${recipients.slice(0, MAX_RECIPIENTS_LENGTH)}…` : recipients

function chooseText({ subject, text, html }: Mail): string {
  const plain = cleanText(text).trim()
  const rich = html === '' ? '' : convertHtml(html, isForwarded(subject)).trim()
  const isPlain = rich === '' || countLetters(plain) >= countLetters(rich) * MIN_PLAIN_SHARE
  const body = isPlain ? plain : rich
  return isForwarded(subject) ? body : removeQuotes(body)
}

const countLetters = (text: string): number => text.replaceAll(/[^\p{L}\p{N}]+/gu, '').length

function convertHtml(html: string, isForward: boolean): string {
  const page = removeHidden(parseHtml(html))
  const text = isForward ? '' : writeMarkdown(removeQuotedElements(page))
  return text === '' ? writeMarkdown(page) : text
}

function writeMarkdown(page: ReturnType<typeof parseHtml>): string {
  const writer = new MarkdownWriter()
  writeHtml(page, writer)
  return cleanText(writer.finish())
}

/** Returns undefined for a date that cannot be parsed. */
export function parseMailDate(header: string): MailDate | undefined {
  const text = header.replaceAll(/\([^()]*\)/g, '').trim()
  const time = Date.parse(text)
  if (Number.isNaN(time)) return undefined
  const [, sign = '+', hours = '00', minutes = '00'] = /([+-])(\d\d):?(\d\d)\s*$/.exec(text) ?? []
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  return createMailDate(time, offset)
}

/** The offset is in minutes. */
export function createMailDate(time: number, offset = 0): MailDate | undefined {
  const local = new Date(time + offset * 60_000)
  if (Number.isNaN(local.getTime())) return undefined
  const pad = (value: number) => String(value).padStart(2, '0')
  const zone = `${offset < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}`
  return {
    day: local.toISOString().slice(0, 10),
    label: `${formatDay(local)}, ${pad(local.getUTCHours())}:${pad(local.getUTCMinutes())} ${zone}`,
  }
}
