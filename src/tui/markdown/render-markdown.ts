/** Markdown as lines for a terminal of some width: blocks here, what is inside them in inline.ts. */
import { Lexer, type Token, type Tokens } from 'marked'
import { sanitizeText } from '../../cli/terminal/text.ts'
import { highlight, type Open } from './highlight.ts'
import { renderInline } from './inline.ts'
import { expandTabs, indentLines, type Line, line, type Margin, type Style, span, wrapLine } from './styled-text.ts'
import { renderTable } from './table.ts'

/** Narrower than this nothing is readable; what is nested deeper stays here. */
const MIN_COLUMNS = 12
const MAX_RULE_COLUMNS = 40
const BULLETS = ['•', '◦', '▪']
export const CODE_MARGIN = '  '

/** The blocks of a text. One that the parser cannot take is a paragraph as it stands: a reply must never end the chat. */
export function parseBlocks(text: string): Token[] {
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text)
  } catch {
    return [{ type: 'paragraph', raw: text, text, tokens: [{ type: 'text', raw: text, text }] }]
  }
}

/** A whole text. */
export function renderMarkdown(text: string, columns: number): Line[] {
  return joinBlocks(parseBlocks(sanitizeText(text)).map((block) => renderBlock(block, columns)))
}

/** Blocks with an empty line between them. */
export function joinBlocks(blocks: readonly Line[][]): Line[] {
  return blocks.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : [[], ...lines]))
}

/** A block in lines that fit, also where its parts are nested too deep for them. */
export function renderBlock(block: Token, columns: number): Line[] {
  return renderToken(block, columns, 0).flatMap((each) => wrapLine(each, columns))
}

function renderToken(block: Token, columns: number, depth: number): Line[] {
  const room = Math.max(MIN_COLUMNS, columns)
  switch (block.type) {
    case 'heading':
      return renderText(block as Tokens.Heading, room, block.depth === 1 ? ['bold', 'underline'] : ['bold'])
    case 'paragraph':
    case 'text':
      return renderText(block as Tokens.Paragraph, room)
    case 'code':
      return renderCode((block as Tokens.Code).text.split('\n'), parseLanguage(block.lang), room).lines
    case 'blockquote':
      return prefixLines(joinBlocks((block as Tokens.Blockquote).tokens.map((each) => renderToken(each, room - 2, depth))), '│ ', '│ ')
    case 'list':
      return renderList(block as Tokens.List, room, depth)
    case 'table':
      return renderTable(block as Tokens.Table, room)
    case 'hr':
      return [line('─'.repeat(Math.min(room, MAX_RULE_COLUMNS)), 'dim')]
    case 'html':
      return block.raw.trim() === ''
        ? []
        : block.raw
            .trimEnd()
            .split('\n')
            .flatMap((each: string) => wrapLine(line(expandTabs(each), 'dim'), room))
    default:
      return []
  }
}

function renderText({ tokens, text }: { tokens?: Token[]; text: string }, columns: number, styles: Style[] = []): Line[] {
  return renderInline(tokens ?? [{ type: 'text', raw: text, text }], styles).flatMap((each) => wrapLine(each, columns))
}

function prefixLines(lines: readonly Line[], first: string, rest: string): Line[] {
  const margin: Margin = { first: [span(first, 'dim')], rest: [span(rest, 'dim')] }
  return indentLines(lines, margin)
}

function renderList({ items, ordered, start, loose }: Tokens.List, columns: number, depth: number): Line[] {
  const from = Number(start) || 1
  const last = String(from + items.length - 1).length
  const blocks = items.map((item, index) => {
    const mark = ordered ? `${String(from + index).padStart(last)}. ` : `${BULLETS[depth % BULLETS.length]} `
    const task = item.task ? (item.checked ? '[x] ' : '[ ] ') : ''
    const margin = {
      first: [span(mark, 'cyan'), ...(task === '' ? [] : [span(task)])],
      rest: [span(' '.repeat(mark.length + task.length))],
    }
    const inside = item.tokens
      .filter(({ type }) => type !== 'checkbox' && type !== 'space')
      .map((each) => renderToken(each, columns - mark.length - task.length, depth + 1))
    const lines = loose ? joinBlocks(inside) : inside.flat()
    return indentLines(lines.length === 0 ? [[]] : lines, margin)
  })
  return loose ? joinBlocks(blocks) : blocks.flat()
}

export function parseLanguage(info: string | undefined): string {
  return /^[^\s{]*/.exec(info ?? '')?.[0] ?? ''
}

/** Lines of code in colours; long ones go on below, so that nothing is cut off. */
export function renderCode(
  texts: readonly string[],
  language: string,
  columns: number,
  open?: Open,
): { lines: Line[]; open: Open | undefined } {
  let still = open
  const margin = { first: [span(CODE_MARGIN)], rest: [span(CODE_MARGIN)] }
  const lines = texts.flatMap((text) => {
    const highlighted = highlight(expandTabs(text), language, still)
    still = highlighted.open
    return indentLines(wrapLine(highlighted.spans, Math.max(MIN_COLUMNS, columns) - CODE_MARGIN.length), margin)
  })
  return { lines, open: still }
}
