/** Styled text as data: lines of spans that are measured, wrapped and truncated before they become escape sequences. */
import { graphemeWidth, sanitizeText, splitGraphemes, stringWidth, takeColumns } from '../text.ts'

const SGR_CODES = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const
export type Style = keyof typeof SGR_CODES

export interface StyledSpan {
  readonly text: string
  readonly styles: readonly Style[]
}
export type Line = readonly StyledSpan[]

const TAB_SIZE = 4

/** Sanitizes the text: it contains no control characters and is one line. */
export function span(text: string, ...styles: Style[]): StyledSpan {
  return { text: sanitizeText(text).replaceAll('\n', ' ').replaceAll('\t', ' '), styles }
}

export function line(text: string, ...styles: Style[]): Line {
  return text === '' ? [] : [span(text, ...styles)]
}

/** Replaces tabs, which a terminal would align to its own left edge. */
export function expandTabs(text: string): string {
  if (!text.includes('\t')) return text
  let made = ''
  for (const [index, part] of text.split('\t').entries())
    made += (index === 0 ? '' : ' '.repeat(TAB_SIZE - (stringWidth(made) % TAB_SIZE))) + part
  return made
}

export function measureLine(spans: Line): number {
  return spans.reduce((sum, { text }) => sum + stringWidth(text), 0)
}

export function toPlainText(spans: Line): string {
  return spans.map(({ text }) => text).join('')
}

/** Returns escape sequences, or plain text without colors. */
export function toAnsi(spans: Line, colors: boolean): string {
  if (!colors) return toPlainText(spans)
  return spans
    .map(({ text, styles }) => {
      if (styles.length === 0 || text === '') return text
      const on = styles.map((style) => SGR_CODES[style][0]).join(';')
      const off = [...new Set(styles.map((style) => SGR_CODES[style][1]))].join(';')
      return `\u001b[${on}m${text}\u001b[${off}m`
    })
    .join('')
}

/** Truncates a line to the columns and marks it with an ellipsis. */
export function truncateLine(spans: Line, columns: number): Line {
  if (measureLine(spans) <= columns) return spans
  const kept: StyledSpan[] = []
  let left = columns - 1
  for (const { text, styles } of spans) {
    const part = takeColumns(text, left)
    if (part !== '') kept.push({ text: part, styles })
    left -= stringWidth(part)
    if (part.length < text.length) break
  }
  return columns > 0 ? [...kept, { text: '…', styles: kept.at(-1)?.styles ?? [] }] : []
}

export function padLine(spans: Line, columns: number, align: 'left' | 'center' | 'right' = 'left'): Line {
  const missing = columns - measureLine(spans)
  if (missing <= 0) return spans
  const before = align === 'left' ? 0 : align === 'right' ? missing : missing >> 1
  const gap = (count: number): Line => (count === 0 ? [] : [{ text: ' '.repeat(count), styles: [] }])
  return [...gap(before), ...spans, ...gap(missing - before)]
}

/** Prefixes of the first line and of all following lines. */
export interface Margin {
  first: Line
  rest: Line
}

export function indentLines(lines: readonly Line[], { first, rest }: Margin): Line[] {
  return lines.map((line, index) => [...(index === 0 ? first : rest), ...line])
}

/** What each line below repeats, and the mark of a list item, below which the text continues. */
const MARGIN = /^([ │]*)((?:[•◦▪]|\d{1,9}\.) )?/

/** Folds a line that is still too long after wrapping, such as code or an address. The rest is below its start. */
export function foldLine(spans: Line, columns: number): Line[] {
  if (measureLine(spans) <= columns) return [spans]
  const [, repeated = '', mark = ''] = MARGIN.exec(toPlainText(spans)) ?? []
  const length = repeated.length + mark.length
  if (length > columns / 2) return wrapLine(spans, columns)
  let left = length
  const content = spans.map(({ text, styles }) => {
    const kept = text.slice(left)
    left -= text.length - kept.length
    return { text: kept, styles }
  })
  const margin = { first: [span(repeated), span(mark, 'cyan')], rest: [span(repeated + ' '.repeat(mark.length))] }
  return indentLines(wrapLine(content, columns - length), margin)
}

/** Wraps at words. Breaks words that are longer than a line, unless `keepsWords`. */
export function wrapLine(spans: Line, columns: number, keepsWords = false): Line[] {
  const maxWidth = Math.max(1, columns)
  if (measureLine(spans) <= maxWidth) return [spans]
  const lines: Line[] = []
  let current: StyledSpan[] = []
  let used = 0
  const flush = () => {
    lines.push(trimLineEnd(current))
    current = []
    used = 0
  }
  for (const word of splitWords(spans)) {
    const size = measureLine(word)
    const shown = measureLine(trimLineEnd(word))
    if (used > 0 && used + shown > maxWidth) flush()
    if (shown <= maxWidth || keepsWords) {
      // Spaces at a line break are dropped.
      if (used === 0 && shown === 0 && lines.length > 0) continue
      current.push(...word)
      used += size
      continue
    }
    for (const { text, styles } of word)
      for (const grapheme of splitGraphemes(text)) {
        const next = graphemeWidth(grapheme)
        if (used > 0 && used + next > maxWidth) flush()
        current.push({ text: grapheme, styles })
        used += next
      }
  }
  if (used > 0 || lines.length === 0) lines.push(trimLineEnd(current))
  return lines.map(mergeSpans)
}

/** Returns words with their trailing space. A word may consist of several spans; CJK text breaks between any two characters. */
function splitWords(spans: Line): StyledSpan[][] {
  const all: StyledSpan[][] = []
  let current: StyledSpan[] = []
  for (const { text, styles } of spans)
    for (const part of text.split(/(?<=[ \t])(?=[^ \t])|(?<=[\u3000-\u9fff\uac00-\ud7a3\uff01-\uff60])(?=[\u3040-\u9fff\uac00-\ud7a3])/)) {
      if (part === '') continue
      current.push({ text: part, styles })
      if (/[ \t\u3000-\u9fff\uac00-\ud7a3\uff01-\uff60]$/.test(part)) {
        all.push(current)
        current = []
      }
    }
  if (current.length > 0) all.push(current)
  return all
}

function trimLineEnd(spans: readonly StyledSpan[]): StyledSpan[] {
  const kept = [...spans]
  while (kept.length > 0) {
    const last = kept[kept.length - 1] as StyledSpan
    const text = last.text.trimEnd()
    if (text === last.text) break
    kept.pop()
    if (text !== '') {
      kept.push({ ...last, text })
      break
    }
  }
  return kept
}

/** Merges adjacent spans of the same style. */
function mergeSpans(spans: readonly StyledSpan[]): Line {
  const made: StyledSpan[] = []
  for (const next of spans) {
    const last = made.at(-1)
    if (last && last.styles === next.styles) made[made.length - 1] = { text: last.text + next.text, styles: last.styles }
    else made.push(next)
  }
  return made
}
