/** Markdown as lines for a terminal of some width: blocks here, what is inside them in inline.ts. */
import { Lexer, type Token, type Tokens } from 'marked'
import { sanitizeText } from '../../cli/terminal/text.ts'
import { highlight, type Open } from './highlight.ts'
import { inlineLines } from './inline.ts'
import { indented, type Line, line, type Margin, type Style, span, withoutTabs, wrapped } from './styled-text.ts'
import { tableLines } from './table.ts'

/** Narrower than this nothing is readable; what is nested deeper stays here. */
const NARROWEST = 12
const RULE = 40
const BULLETS = ['•', '◦', '▪']
export const CODE_MARGIN = '  '

/** The blocks of a text. One that the parser cannot take is a paragraph as it stands: a reply must never end the chat. */
export function blocksOf(text: string): Token[] {
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text)
  } catch {
    return [{ type: 'paragraph', raw: text, text, tokens: [{ type: 'text', raw: text, text }] }]
  }
}

/** A whole text. */
export function markdownLines(text: string, columns: number): Line[] {
  return spaced(blocksOf(sanitizeText(text)).map((block) => blockLines(block, columns)))
}

/** Blocks with an empty line between them. */
export function spaced(blocks: readonly Line[][]): Line[] {
  return blocks.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : [[], ...lines]))
}

/** A block in lines that fit, also where its parts are nested too deep for them. */
export function blockLines(block: Token, columns: number): Line[] {
  return partLines(block, columns, 0).flatMap((each) => wrapped(each, columns))
}

function partLines(block: Token, columns: number, depth: number): Line[] {
  const room = Math.max(NARROWEST, columns)
  switch (block.type) {
    case 'heading':
      return textLines(block as Tokens.Heading, room, block.depth === 1 ? ['bold', 'underline'] : ['bold'])
    case 'paragraph':
    case 'text':
      return textLines(block as Tokens.Paragraph, room)
    case 'code':
      return codeLines((block as Tokens.Code).text.split('\n'), languageName(block.lang), room).lines
    case 'blockquote':
      return within(spaced((block as Tokens.Blockquote).tokens.map((each) => partLines(each, room - 2, depth))), '│ ', '│ ')
    case 'list':
      return listLines(block as Tokens.List, room, depth)
    case 'table':
      return tableLines(block as Tokens.Table, room)
    case 'hr':
      return [line('─'.repeat(Math.min(room, RULE)), 'dim')]
    case 'html':
      return block.raw.trim() === ''
        ? []
        : block.raw
            .trimEnd()
            .split('\n')
            .flatMap((each: string) => wrapped(line(withoutTabs(each), 'dim'), room))
    default:
      return []
  }
}

function textLines({ tokens, text }: { tokens?: Token[]; text: string }, columns: number, styles: Style[] = []): Line[] {
  return inlineLines(tokens ?? [{ type: 'text', raw: text, text }], styles).flatMap((each) => wrapped(each, columns))
}

function within(lines: readonly Line[], first: string, rest: string): Line[] {
  const margin: Margin = { first: [span(first, 'dim')], rest: [span(rest, 'dim')] }
  return indented(lines, margin)
}

function listLines({ items, ordered, start, loose }: Tokens.List, columns: number, depth: number): Line[] {
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
      .map((each) => partLines(each, columns - mark.length - task.length, depth + 1))
    const lines = loose ? spaced(inside) : inside.flat()
    return indented(lines.length === 0 ? [[]] : lines, margin)
  })
  return loose ? spaced(blocks) : blocks.flat()
}

export function languageName(info: string | undefined): string {
  return /^[^\s{]*/.exec(info ?? '')?.[0] ?? ''
}

/** Lines of code in colours; long ones go on below, so that nothing is cut off. */
export function codeLines(
  texts: readonly string[],
  language: string,
  columns: number,
  open?: Open,
): { lines: Line[]; open: Open | undefined } {
  let still = open
  const margin = { first: [span(CODE_MARGIN)], rest: [span(CODE_MARGIN)] }
  const lines = texts.flatMap((text) => {
    const highlighted = highlight(withoutTabs(text), language, still)
    still = highlighted.open
    return indented(wrapped(highlighted.spans, Math.max(NARROWEST, columns) - CODE_MARGIN.length), margin)
  })
  return { lines, open: still }
}
