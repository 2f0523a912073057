/** Formats passages: location, headings and an excerpt with the words of the query highlighted. */
import type { Passage } from '../../contract/schemas/passages.ts'
import { segmentText } from '../../segment-text.ts'
import { paint } from '../terminal/color.ts'
import { MAX_PROSE_COLUMNS } from '../terminal/format-prose.ts'
import type { Output } from '../terminal/table.ts'
import { sanitizeLine, sanitizeText, stringWidth, truncate, wrap } from '../terminal/text.ts'
import { locateQuote, type Quote } from './find-quote.ts'
import { formatLocation, formatSection } from './format-location.ts'

export interface PassageOptions {
  /** The question; its words are highlighted. */
  query: string
  output: Output
  /** Whether to show whole passages instead of excerpts. */
  full?: boolean
  /** What a reply quotes from the passage, which the excerpt contains. */
  quoted?: string
}

const INDENT = 4
const STALE_NOTE = 'The document was changed or deleted after it was read.'
const EXCERPT_LINES = 3
const MAX_ELLIPSIS_LENGTH = 3

const STOP_WORDS = new Set(
  `a an and are as at be been but by can could did do does for from had has have how i if in into is it its many may me might
  much must my no not of on or our shall should so than that the their them there these they this those to us was we were what
  when where which who whom whose why will with would you your`.split(/\s+/),
)

/** Creates a pattern that matches the words of a query; undefined if it has only stop words. */
export function createQueryPattern(query: string): RegExp | undefined {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })
  const words = Array.from(segmentText(segmenter, query.toLowerCase()), ({ segment, isWordLike }) => (isWordLike ? segment : ''))
  const patterns = [...new Set(words)].filter((word) => word !== '' && !STOP_WORDS.has(word)).map(createWordPattern)
  return patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'giu')
}

/** Allows other endings because search stems words. Scripts without spaces have no word boundaries. */
function createWordPattern(word: string): string {
  const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word)) return literal(word)
  const stem = word.length > 3 ? word.replace(/(?:ing|ed|es|s|e)$/, '') : word
  const ending = word.length > 2 ? '\\p{L}{0,3}' : ''
  return `(?<![\\p{L}\\p{N}])${literal(stem)}${ending}(?![\\p{L}\\p{N}])`
}

/** The notice for a search whose passages are all only loosely related. */
export const formatNoMatch = (query: string) =>
  `No good match for "${truncate(sanitizeLine(query), 40)}"; these passages are only loosely related.`

/** Formats the number, location, notes and text of a passage. */
export function formatPassage(
  passage: Passage,
  number: number,
  notes: readonly string[],
  { query, output, full, quoted = '' }: PassageOptions,
): string[] {
  const columns = Math.min(output.columns, MAX_PROSE_COLUMNS)
  const mark = `[${number}]`.padEnd(INDENT)
  const words = createQueryPattern(query)
  const lines = full
    ? wrap(sanitizeText(passage.content).trim(), columns - INDENT)
    : formatExcerpt(sanitizeLine(removeHeadings(passage.content)), query, quoted, columns - INDENT)
  const allNotes = passage.stale ? [...notes, STALE_NOTE] : notes
  return [
    `${paint('cyan', mark, output.stream)}${formatHeading(passage, output.stream, output.columns - INDENT)}`,
    ...allNotes.map((note) => ' '.repeat(INDENT) + paint('dim', note, output.stream)),
    ...lines.map((line) => ' '.repeat(INDENT) + highlightWords(line, words, output.stream)),
  ]
}

/** A line if the output is not wrapped. */
function formatExcerpt(text: string, query: string, quoted: string, columns: number): string[] {
  const isWrapped = columns !== Number.POSITIVE_INFINITY
  const quote = locateQuote(text, quoted)
  const excerpt = extractExcerpt(text, createQueryPattern(`${quoted} ${query}`), isWrapped ? columns * EXCERPT_LINES : 300, quote)
  return isWrapped ? wrap(excerpt, columns).slice(0, quote ? undefined : EXCERPT_LINES + 1) : [excerpt]
}

/** Returns `manual.pdf, page 3 · Leave › Annual` on one line. */
function formatHeading({ metadata }: Passage, stream: NodeJS.WriteStream, columns: number): string {
  const name = sanitizeLine(metadata.source)
  const location = formatLocation(metadata)
  const path = formatSection(metadata)
  // The last heading is the most specific, so the ones above it are dropped first.
  const shortPath = stringWidth(`${location} · ${path}`) <= columns ? path : path.replace(/^.* › /, '… › ')
  const line = truncate(path === '' ? location : `${location} · ${shortPath}`, columns)
  const [documentName, page, rest] = [line.slice(0, name.length), line.slice(name.length, location.length), line.slice(location.length)]
  return `${paint('bold', documentName, stream)}${page}${paint('dim', rest, stream)}`
}

/** Headings are shown above the passage; rules, fences and the marks of comments are useless on one line. */
function removeHeadings(content: string): string {
  // Lines with a number sign right below each other are comments.
  if (/^# ?\S.*\n#/m.test(content)) return content.replaceAll(/^[ \t]*#+[ \t]?/gm, '')
  const rest = content.replaceAll(/^#{1,6} .*$|^\s*\|?[\s:|-]*-{3}[\s:|-]*$|^.*\n={3,}\s*$|^\s*```\w*\s*$/gm, '')
  return rest.trim() === '' ? content : rest
}

function highlightWords(line: string, words: RegExp | undefined, stream: NodeJS.WriteStream): string {
  return words ? line.replace(words, (word) => paint('yellow', word, stream)) : line
}

/** Returns the start of the excerpt that contains the most distinct words, at the start of a sentence or word. */
export function findBestStart(text: string, words: RegExp | undefined, length: number): number {
  const matches = words ? Array.from(text.matchAll(words), ({ 0: word, index }) => ({ index, stem: word.toLowerCase().slice(0, 4) })) : []
  const countDistinct = (from: number) =>
    new Set(matches.filter(({ index, stem }) => index >= from && index + stem.length <= from + length).map(({ stem }) => stem)).size
  const starts = [0, ...matches.map(({ index }) => findSentenceStart(text, index, length))]
  return starts.reduce((best, start) => (countDistinct(start) > countDistinct(best) ? start : best), 0)
}

/** Returns the part of a text that contains the quote, or else the most distinct words. */
export function extractExcerpt(text: string, words: RegExp | undefined, length: number, quote?: Quote): string {
  if (text.length <= length) return text
  const size = quote ? Math.max(length, quote.end - quote.start + MAX_ELLIPSIS_LENGTH) : length
  const best = quote ? findQuoteStart(text, quote, size) : findBestStart(text, words, size)
  const from = Math.min(best, findLastStart(text, size))
  const to = from + size - (from > 0 ? 2 : 1)
  const word = text.lastIndexOf(' ', to)
  const end = to >= text.length ? text.length : Math.max(word > from + size / 2 ? word : to, quote?.end ?? 0)
  return `${from > 0 ? '… ' : ''}${text.slice(from, end).trim()}${end < text.length ? '…' : ''}`
}

/** The excerpt starts with the sentence of the quote, unless the quote would not fit then. */
function findQuoteStart(text: string, { start, end }: Quote, length: number): number {
  const sentence = findSentenceStart(text, start, length)
  return end - sentence + MAX_ELLIPSIS_LENGTH <= length ? sentence : start
}

/** Returns the start of the sentence around a position if it is near, otherwise of a word shortly before it. */
function findSentenceStart(text: string, position: number, length: number): number {
  const earliest = Math.max(0, position - Math.floor(length / 3))
  const sentence = Math.max(
    ...['. ', '! ', '? ', '。']
      .map((end) => text.lastIndexOf(end, position - 1) + end.length)
      .map((start) => (start < earliest || start > position ? 0 : start)),
  )
  if (sentence > 0 || earliest === 0) return sentence
  const space = text.indexOf(' ', earliest)
  return space === -1 || space > position ? earliest : space + 1
}

/** Returns the last start at which the excerpt is still full. */
function findLastStart(text: string, length: number): number {
  const start = text.length - length
  const space = text.indexOf(' ', start)
  return space === -1 ? start : space + 1
}
