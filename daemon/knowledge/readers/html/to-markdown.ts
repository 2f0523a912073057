/** Writes the elements of a page as markdown: headings, lists, tables, quotes and code keep their shape. */

import type { MarkdownWriter } from '../markdown-writer.ts'
import type { HtmlElement } from './tree.ts'

const BLOCKS = new Set(
  'address article aside body caption center dd details div dl dt fieldset figcaption figure footer form header hr html legend main p section summary #root'.split(
    ' ',
  ),
)
/** Cells longer than this are not data: the table only lays out the page. */
const LONGEST_CELL = 1_000

export function writeHtml(element: HtmlElement, writer: MarkdownWriter): void {
  for (const child of element.children) {
    if (typeof child === 'string') writer.text(child)
    else write(child, writer)
  }
}

function write(element: HtmlElement, writer: MarkdownWriter): void {
  const { name, attributes } = element
  const heading = /^h([1-6])$/.exec(name)?.[1]
  if (heading) {
    writer.paragraph()
    writeInline(element, writer)
    writer.heading(Number(heading))
  } else if (name === 'ul' || name === 'ol' || name === 'menu') {
    writer.startList(name === 'ol', Number(attributes.get('start') ?? 1) || 1)
    writeHtml(element, writer)
    writer.endList()
  } else if (name === 'li') {
    writer.item()
    writeHtml(element, writer)
    writer.paragraph()
  } else if (name === 'table') writeTable(element, writer)
  else if (name === 'pre') writer.code(preformatted(element), languageOf(element))
  else if (name === 'blockquote') {
    writer.startQuote()
    writeHtml(element, writer)
    writer.endQuote()
  } else if (name === 'br') writer.newline()
  else if (name === 'img') writer.text(attributes.get('alt') ?? '')
  else if (name === 'code' && element.children.length > 0) {
    writer.text('`')
    writeInline(element, writer)
    writer.text('`')
  } else if (BLOCKS.has(name)) {
    writer.paragraph()
    writeHtml(element, writer)
    writer.paragraph()
  } else writeHtml(element, writer)
}

/** The text of an element without regard to the blocks in it. */
function writeInline(element: HtmlElement, writer: MarkdownWriter): void {
  for (const child of element.children) {
    if (typeof child === 'string') writer.text(child)
    else if (child.name === 'br') writer.text(' ')
    else if (child.name === 'img') writer.text(child.attributes.get('alt') ?? '')
    else writeInline(child, writer)
  }
}

function preformatted(element: HtmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : child.name === 'br' ? '\n' : preformatted(child))).join('')
}

function languageOf(element: HtmlElement): string {
  const code = element.children.find((child): child is HtmlElement => typeof child !== 'string' && child.name === 'code')
  const classes = `${element.attributes.get('class') ?? ''} ${code?.attributes.get('class') ?? ''}`
  return /(?:language|lang|highlight-source)-([\w+#-]{1,20})/.exec(classes)?.[1] ?? ''
}

interface Cell {
  element: HtmlElement
  text: string
}

function writeTable(table: HtmlElement, writer: MarkdownWriter): void {
  const rows: Cell[][] = []
  let laysOut = false
  writer.paragraph()
  const gather = (element: HtmlElement) => {
    for (const child of element.children) {
      if (typeof child === 'string') writer.text(child)
      else if (child.name === 'tr') rows.push(cellsOf(child, writer))
      else if (child.name === 'td' || child.name === 'th') rows.push(cellsOf({ ...element, children: [child] }, writer))
      else if (GROUPS.has(child.name)) gather(child)
      else write(child, writer)
    }
    writer.paragraph()
  }
  gather(table)
  for (const row of rows) {
    for (const { element, text } of row) if (text.length > LONGEST_CELL || holds(element, LAYOUT)) laysOut = true
  }
  const columns = Math.max(0, ...rows.map((row) => row.filter(({ text }) => text !== '').length))
  if (laysOut || columns < 2) {
    for (const { element } of rows.flat()) {
      writer.paragraph()
      writeHtml(element, writer)
      writer.paragraph()
    }
    return
  }
  // Pages without header cells use empty ones as spacing; with them, an empty cell keeps its column.
  const headed = rows[0]?.every(({ element }) => element.name === 'th') ?? false
  const written = rows
    .map((row) => row.map(({ text }) => text).filter((text) => headed || text !== ''))
    .filter((row) => row.some((text) => text !== ''))
  if (written.length > 0) writer.table(written)
}

const GROUPS = new Set(['thead', 'tbody', 'tfoot', 'colgroup'])
const LAYOUT = new Set(['table', 'pre', 'h1', 'h2', 'h3', 'blockquote'])

function holds(element: HtmlElement, names: Set<string>): boolean {
  return element.children.some((child) => typeof child !== 'string' && (names.has(child.name) || holds(child, names)))
}

/** The cells of a row; what stands beside them goes before the table, as browsers show it. */
function cellsOf(row: HtmlElement, writer: MarkdownWriter): Cell[] {
  const cells: Cell[] = []
  for (const child of row.children) {
    if (typeof child === 'string') writer.text(child)
    else if (child.name === 'td' || child.name === 'th') cells.push({ element: child, text: cellText(child) })
    else write(child, writer)
  }
  return cells
}

function cellText(cell: HtmlElement): string {
  const parts: string[] = []
  const gather = (element: HtmlElement) => {
    for (const child of element.children) {
      if (typeof child === 'string') parts.push(child)
      else {
        const apart = child.name === 'br' || child.name === 'li' || child.name === 'p' || child.name === 'div'
        if (apart) parts.push(' ')
        gather(child)
        if (apart) parts.push(' ')
      }
    }
  }
  gather(cell)
  return parts
    .join('')
    .replaceAll(/[\s\u00a0\u200b]+/g, ' ')
    .trim()
}
