/** Omits text that is already in the scrollback when lines are rendered for another width. */
import { type Line, type StyledSpan, toPlainText } from '../../cli/terminal/markdown/styled-text.ts'
import { splitGraphemes } from '../../cli/terminal/text.ts'

/** The start of a text, independent of the width: line breaks, margins and borders depend on it, letters and digits do not. */
export interface PrintedText {
  readonly letters: number
  /** Number of lines without letters after them. */
  readonly blankLines: number
}

export const NOTHING_PRINTED: PrintedText = { letters: 0, blankLines: 0 }

const LETTER = /[\p{L}\p{N}]/u
const countLetters = (text: string) => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0

export function addPrinted({ letters, blankLines }: PrintedText, texts: readonly string[]): PrintedText {
  const counts = texts.map(countLetters)
  const last = counts.findLastIndex((count) => count > 0)
  return {
    letters: letters + counts.reduce((sum, count) => sum + count, 0),
    blankLines: (last === -1 ? blankLines : 0) + texts.length - 1 - last,
  }
}

/** Returns the lines without the printed text, and what of it remains if it is longer. */
export function omitPrinted(lines: readonly Line[], printed: PrintedText): { rest: readonly Line[]; left: PrintedText } {
  let { letters, blankLines } = printed
  for (const [index, line] of lines.entries()) {
    const count = countLetters(toPlainText(line))
    if (letters === 0 && (count > 0 || blankLines === 0)) return { rest: lines.slice(index), left: NOTHING_PRINTED }
    if (letters === 0) blankLines--
    if (count > letters) return { rest: [omitStart(line, letters), ...lines.slice(index + 1)], left: NOTHING_PRINTED }
    letters -= count
  }
  return { rest: [], left: { letters, blankLines } }
}

/** Omits the first letters of a line and what follows them without a space, but keeps the margin. */
function omitStart(line: Line, letters: number): Line {
  const margin = /^ */.exec(toPlainText(line))?.[0] ?? ''
  const rest: StyledSpan[] = []
  let left = letters
  for (const { text, styles } of line) {
    let kept = ''
    for (const grapheme of splitGraphemes(text)) {
      const isLetter = LETTER.test(grapheme)
      if (left > 0) left -= countLetters(grapheme)
      else if (kept !== '' || rest.length > 0 || isLetter) kept += grapheme
      else if (grapheme.trim() === '') kept = ' '
    }
    if (kept !== '') rest.push({ text: kept, styles })
  }
  const [first, ...others] = rest
  return first ? [{ text: margin, styles: [] }, { ...first, text: first.text.trimStart() }, ...others] : []
}
