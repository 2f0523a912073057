/** Finds the start of a paragraph that no longer changes while the paragraph is being streamed. */
import type { Token, Tokens } from 'marked'
import { renderInline } from './inline.ts'
import { lexMarkdown, renderBlock } from './render-markdown.ts'
import { type Line, toPlainText } from './styled-text.ts'

/** The last lines may still change: with the next letters, or because the last line of text turns out to be a list or a table. */
const OPEN_LINES = 2
/** Words, and characters between which lines break without a space. */
const WORD = /[\u3000-\u9fff\uac00-\ud7a3\uff01-\uff60]|[^\s\u3000-\u9fff\uac00-\ud7a3\uff01-\uff60]+/g
/** The rest is parsed on its own and must not look like another block. */
const REST = /^(?!\d{1,9}[.)])(?:\*\*?|__?|`(?!`))?[\p{L}\p{N}"'“”‘’„«(]/u
/** Citations, for example. With an address, they would be a link. */
const BRACKETS = /\[[^[\]]*\](?!\()/g
/** Its characters are not those on the screen. */
const ENTITY = /&#?\w+;/
/** Markup in plain text: text that follows may close it. */
const OPEN_MARKUP = /\*(?!\s)|(?<!\s)\*|[`~[|]|<(?=[a-z/!?])|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/iu

/**
 * Returns the longest start for which the paragraph is wrapped as before if both parts are rendered on their own, and the number of
 * characters after which the rest begins.
 */
export function findParagraphStart(
  { raw, tokens = [] }: Tokens.Paragraph,
  lines: readonly Line[],
  columns: number,
): { lines: Line[]; length: number } | undefined {
  if (lines.length <= OPEN_LINES) return undefined
  const { count, length } = findLastBreak(raw, tokens, lines.slice(0, -OPEN_LINES))
  if (count === 0) return undefined
  const start = renderParagraph(raw.slice(0, length).trimEnd(), columns)
  const rest = renderParagraph(raw.slice(length), columns)
  const isSame = start?.length === count && rest && isSameText([...start, ...rest], lines)
  return isSame ? { lines: start, length } : undefined
}

/** Returns the last line break of `lines` before which all markup is closed: the number of lines and of characters before it. */
function findLastBreak(raw: string, tokens: readonly Token[], lines: readonly Line[]): { count: number; length: number } {
  // Wrapping changes only spaces, so the other characters tell where a line ends in the text.
  const lineEnds = new Map<number, number>()
  let shown = 0
  for (const [index, line] of lines.entries()) {
    shown += countShown([line])
    lineEnds.set(shown, index + 1)
  }
  let last = { count: 0, length: 0 }
  const visit = (length: number) => {
    const count = lineEnds.get(shown)
    if (count !== undefined && REST.test(raw.slice(length, length + 20))) last = { count, length }
  }
  let length = 0
  shown = 0
  for (const token of tokens) {
    const text = maskBrackets(token)
    const open = findOpenMarkup(token)
    if (token.type === 'text' && !ENTITY.test(text))
      for (const { 0: word, index } of text.matchAll(WORD)) {
        if (open !== undefined && index + word.length >= open) break
        visit(length + index)
        shown += countCharacters(token.raw.slice(index, index + word.length))
      }
    else if (open === undefined) {
      visit(length)
      shown += countShown(renderInline([token]))
    }
    if (open !== undefined) break
    length += token.raw.length
  }
  return last
}

/** Returns where markup starts that the following text may close. HTML can change how all of it is parsed. */
function findOpenMarkup(token: Token): number | undefined {
  const inner: Token[] | undefined = 'tokens' in token ? token.tokens : undefined
  if (token.type === 'html' || inner?.some((each) => findOpenMarkup(each) !== undefined)) return 0
  const index = inner || token.type !== 'text' ? -1 : maskBrackets(token).search(OPEN_MARKUP)
  return index === -1 ? undefined : index
}

/** Text in brackets is not split: it may turn out to be a link. */
const maskBrackets = ({ raw }: Token) => raw.replaceAll(BRACKETS, (all) => '-'.repeat(all.length))

const countCharacters = (text: string) => text.replaceAll(/\s/g, '').length
const countShown = (lines: readonly Line[]) => lines.reduce((sum, line) => sum + countCharacters(toPlainText(line)), 0)

function renderParagraph(text: string, columns: number): Line[] | undefined {
  const [block, ...others] = lexMarkdown(text)
  return block?.type === 'paragraph' && others.every(({ type }) => type === 'space') ? renderBlock(block, columns) : undefined
}

const isSameText = (a: readonly Line[], b: readonly Line[]) =>
  a.length === b.length && a.every((line, index) => toPlainText(line) === toPlainText(b[index] as Line))
