/** Sanitizes, measures, truncates and wraps text for terminals. */
import { eastAsianWidth } from 'get-east-asian-width'
import { segmentText } from '../../segment-text.ts'

/** Escape sequences, control characters and bidirectional marks are removed: data could rewrite the screen with them. */
const ESCAPE_SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

const INCOMPLETE_SEQUENCE = /(?:\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]{0,1000}\u001b?|[ -/]*)?|\r|[\ud800-\udbff])$/

/** Returns an incomplete escape sequence, CRLF or surrogate pair at the end of streamed text. */
export const findIncompleteSequence = (text: string): string => INCOMPLETE_SEQUENCE.exec(text)?.[0] ?? ''

/** Keeps newlines and tabs. */
export function sanitizeText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replace(ESCAPE_SEQUENCES, '').replace(CONTROL_CHARACTERS, '')
}

/** Newlines and tabs do not count. */
export const hasControlCharacters = (text: string): boolean => text.search(CONTROL_CHARACTERS) !== -1

/** Sanitizes text and puts it on one line. */
export function sanitizeLine(text: string): string {
  return sanitizeText(text.replaceAll(/\s+/g, ' ')).trim()
}

const NARROW_TEXT = /^[\u0020-\u007e\u00a0-\u02ff]*$/
/** Characters that only combine with accents: Latin, Greek, Cyrillic, Thai, Lao, box drawing, kana, Chinese characters, Hangul. */
const SIMPLE_TEXT = new RegExp(
  '^[\\u0020-\\u007e\\u00a0-\\u0482\\u048a-\\u052f\\u0e00-\\u0eff\\u1e00-\\u1fff\\u2010-\\u2027\\u2030-\\u205e\\u20a0-\\u20bf' +
    '\\u2500-\\u259f\\u3000-\\u3029\\u3041-\\u3096\\u30a0-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff60]*$',
)
/** Sara am, U+0E33 and U+0EB3, is a letter that belongs to the one before it. */
const SIMPLE_GRAPHEME = /.[\p{Mn}\u0e33\u0eb3]*/gsu
const ACCENTS = /\p{Mn}|(?<!^)[\u0e33\u0eb3]/gu
const SIMPLE_WIDE = /[\u3000-\uff60]/g
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
/** Flags and other emoji, and characters shown as emoji. */
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u

/** Avoids the segmenter for simple text: it takes two microseconds per character. */
export function splitGraphemes(text: string): string[] {
  if (SIMPLE_TEXT.test(text)) return text.match(SIMPLE_GRAPHEME) ?? []
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return Array.from(segmentText(segmenter, text), ({ segment }) => segment)
}

/** Number of terminal columns of one grapheme. */
export function graphemeWidth(grapheme: string): number {
  if (ZERO_WIDTH.test(grapheme)) return 0
  return EMOJI.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0)
}

const SINGLE_CHARACTER = /^.$/su

/** Number of terminal columns. */
export function stringWidth(text: string): number {
  if (NARROW_TEXT.test(text)) return text.length
  if (SIMPLE_TEXT.test(text)) {
    const letters = text.replaceAll(ACCENTS, '')
    return letters.length + (letters.match(SIMPLE_WIDE)?.length ?? 0)
  }
  // Creating a segmenter takes a tenth of a millisecond.
  if (SINGLE_CHARACTER.test(text)) return graphemeWidth(text)
  return splitGraphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0)
}

/** Ends with … if text was cut. */
export function truncate(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  return columns > 0 ? `${takeColumns(text, columns - 1)}…` : ''
}

/** Returns the start of the text that fits. */
export function takeColumns(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  let kept = ''
  let left = columns
  for (const grapheme of splitGraphemes(text)) {
    left -= graphemeWidth(grapheme)
    if (left < 0) break
    kept += grapheme
  }
  return kept
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)))
}

/** Breaks words that are longer than a line. */
export function wrap(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(1, columns)))
}

function wrapLine(line: string, columns: number): string[] {
  if (stringWidth(line) <= columns) return [line]
  const lines: string[] = []
  let current = ''
  let used = 0
  const flush = () => {
    lines.push(current.trimEnd())
    current = ''
    used = 0
  }
  for (const word of line.split(/(?<=\s)/)) {
    if (used > 0 && used + stringWidth(word.trimEnd()) > columns) flush()
    const width = stringWidth(word)
    if (width <= columns) {
      current += word
      used += width
      continue
    }
    for (const grapheme of splitGraphemes(word)) {
      const next = graphemeWidth(grapheme)
      if (used > 0 && used + next > columns && grapheme.trim() !== '') flush()
      current += grapheme
      used += next
    }
  }
  if (current.trim() !== '' || lines.length === 0) lines.push(current.trimEnd())
  return lines
}
