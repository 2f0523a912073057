/** Renders Markdown blocks as styled lines of a given width. */
import { Lexer, type Token, type Tokens } from 'marked'
import { sanitizeText } from '../text.ts'
import { highlight, type OpenToken } from './highlight.ts'
import { renderInline } from './inline.ts'
import { expandTabs, indentLines, type Line, line, type Margin, type Style, span, toPlainText, wrapLine } from './styled-text.ts'
import { renderTable } from './table.ts'

/** Deeply nested blocks are not rendered narrower than this. */
const MIN_COLUMNS = 12
const MAX_RULE_COLUMNS = 40
const BULLETS = ['•', '◦', '▪']
const CODE_MARGIN = '  '
/** Citations that are alone on a line, as below a quoted table or code. */
const CITATIONS = /^\s*\[\d{1,3}\]((?:\s*\[\d{1,3}\])*)\s*$/
const QUOTE_MARGIN: Margin = { first: [span('│ ', 'dim')], rest: [span('│ ', 'dim')] }

/** Returns the text as one paragraph if the parser fails (stack overflow on deep nesting). */
export function lexMarkdown(text: string): Token[] {
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text)
  } catch {
    return [{ type: 'paragraph', raw: text, text, tokens: [{ type: 'text', raw: text, text }] }]
  }
}

export function renderMarkdown(text: string, columns: number): Line[] {
  return joinBlocks(lexMarkdown(sanitizeText(text)).map((block) => renderBlock(block, columns)))
}

/** Joins blocks with an empty line between them. */
export function joinBlocks(blocks: readonly Line[][]): Line[] {
  return blocks.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : [[], ...lines]))
}

/** Code, long words and deeply nested parts may be wider than the columns. `foldLine` breaks their lines, which cannot be copied then. */
export function renderBlock(block: Token, columns: number, depth = 0): Line[] {
  const width = Math.max(MIN_COLUMNS, columns)
  switch (block.type) {
    case 'heading':
      return renderText(block as Tokens.Heading, width, block.depth === 1 ? ['bold', 'underline'] : ['bold'])
    case 'paragraph':
    case 'text':
      return renderText(block as Tokens.Paragraph, width)
    case 'code':
      return renderCode((block as Tokens.Code).text.split('\n'), parseLanguage(block.lang)).lines
    case 'blockquote':
      return indentLines(joinBlocks((block as Tokens.Blockquote).tokens.map((token) => renderBlock(token, width - 2, depth))), QUOTE_MARGIN)
    case 'list':
      return renderList(block as Tokens.List, width, depth)
    case 'table':
      return renderTable(block as Tokens.Table, width)
    case 'hr':
      return [line('─'.repeat(Math.min(width, MAX_RULE_COLUMNS)), 'dim')]
    case 'html':
      return block.raw.trim() === ''
        ? []
        : block.raw
            .trimEnd()
            .split('\n')
            .flatMap((text: string) => wrapLine(line(expandTabs(text), 'dim'), width, true))
    default:
      return []
  }
}

function renderText({ tokens, text }: { tokens?: Token[]; text: string }, columns: number, styles: Style[] = []): Line[] {
  const lines = renderInline(tokens ?? [{ type: 'text', raw: text, text }], styles)
  const label = labelCitations(text)
  if (label !== '') lines[0] = [span(label, 'dim'), ...(lines[0] ?? [])]
  return lines.flatMap((line) => wrapLine(line, columns, true))
}

/** Returns the words to show before the text, which is empty unless the text consists of citations. */
function labelCitations(text: string): string {
  const [, others] = CITATIONS.exec(text) ?? []
  if (others === undefined) return ''
  return others === '' ? 'Source: ' : 'Sources: '
}

/** The number of the first item. */
export const getFirstNumber = ({ start }: Tokens.List) => (start === '' ? 1 : start)

/** Neither the marker of an item nor the empty lines around it depend on later items, so that items are final while a list is streamed. */
function renderList(list: Tokens.List, columns: number, depth: number): Line[] {
  return list.items.flatMap((item, index) => {
    const mark = list.ordered ? `${getFirstNumber(list) + index}. ` : `${BULLETS[depth % BULLETS.length]} `
    const task = item.task ? (item.checked ? '[x] ' : '[ ] ') : ''
    const margin = {
      first: [span(mark, 'cyan'), ...(task === '' ? [] : [span(task)])],
      rest: [span(' '.repeat(mark.length + task.length))],
    }
    const lines = renderItem(item, columns - mark.length - task.length, depth)
    const isSeparated = index > 0 && endsWithEmptyLine(list.items[index - 1])
    return [...(isSeparated ? [[]] : []), ...indentLines(lines.length === 0 ? [[]] : lines, margin)]
  })
}

/** Renders the blocks of an item, with empty lines where the text has them. */
function renderItem({ tokens }: Tokens.ListItem, columns: number, depth: number): Line[] {
  const lines: Line[] = []
  for (const [index, token] of tokens.entries()) {
    const block = renderBlock(token, columns, depth + 1)
    if (block.length > 0 && lines.length > 0 && endsWithEmptyLine(tokens[index - 1])) lines.push([])
    lines.push(...block)
  }
  // The parser keeps empty lines at the end of code, except in the last item.
  return lines.slice(0, lines.findLastIndex((line) => toPlainText(line).trim() !== '') + 1)
}

export const endsWithEmptyLine = (token: Pick<Token, 'raw'> | undefined) => /\n[ \t]*\n[ \t]*$/.test(token?.raw ?? '')

export function parseLanguage(info: string | undefined): string {
  return /^[^\s{]*/.exec(info ?? '')?.[0] ?? ''
}

/** Highlights lines of code. */
export function renderCode(texts: readonly string[], language: string, open?: OpenToken): { lines: Line[]; open: OpenToken | undefined } {
  let openToken = open
  const lines = texts.map((text) => {
    const highlighted = highlight(expandTabs(text), language, openToken)
    openToken = highlighted.open
    return [span(CODE_MARGIN), ...highlighted.spans]
  })
  return { lines, open: openToken }
}
