/** Writes HTML elements as Markdown: headings, lists, tables, quotes and code. */
import { MAX_CELL_LENGTH, type MarkdownWriter } from '../markdown-writer.ts'
import type { HtmlElement } from './parse-html.ts'

const BLOCK_ELEMENTS = new Set(
  (
    'address article aside body caption center details div fieldset figcaption figure footer form header hr html legend ' +
    'main option p section summary #root'
  ).split(' '),
)

export function writeHtml(element: HtmlElement, writer: MarkdownWriter): void {
  for (const child of element.children) {
    if (typeof child === 'string') writer.writeText(child)
    else writeElement(child, writer)
  }
}

function writeElement(element: HtmlElement, writer: MarkdownWriter): void {
  const { name, attributes } = element
  const heading = /^h([1-6])$/.exec(name)?.[1]
  if (heading) {
    writer.endParagraph()
    writeInline(element, writer)
    writer.endHeading(Number(heading))
  } else if (name === 'ul' || name === 'ol' || name === 'menu') {
    writer.startList(name === 'ol', Number(attributes.get('start') ?? 1) || 1)
    writeHtml(element, writer)
    writer.endList()
  } else if (name === 'li') {
    writer.startItem()
    writeHtml(element, writer)
    writer.endParagraph()
  } else if (name === 'dl') {
    writer.startList(false)
    writeHtml(element, writer)
    writer.endList()
  } else if (name === 'dt') {
    writer.startItem()
    writeHtml(element, writer)
    writer.endTerm()
  } else if (name === 'dd') {
    writeHtml(element, writer)
    writer.endParagraph()
  } else if (name === 'table') writeTable(element, writer)
  else if (name === 'pre') writer.writeCode(getPreformattedText(element), detectLanguage(element))
  else if (name === 'blockquote') {
    writer.startQuote()
    writeHtml(element, writer)
    writer.endQuote()
  } else if (name === 'br') writer.writeNewline()
  else if (name === 'img') writer.writeText(attributes.get('alt') ?? '')
  else if (name === 'code' && element.children.length > 0) {
    writer.writeText('`')
    writeInline(element, writer)
    writer.writeText('`')
  } else if (BLOCK_ELEMENTS.has(name)) {
    writer.endParagraph()
    writeHtml(element, writer)
    writer.endParagraph()
  } else writeHtml(element, writer)
}

/** Writes the text of an element and ignores blocks within it. */
function writeInline(element: HtmlElement, writer: MarkdownWriter): void {
  for (const child of element.children) {
    if (typeof child === 'string') writer.writeText(child)
    else if (child.name === 'br') writer.writeText(' ')
    else if (child.name === 'img') writer.writeText(child.attributes.get('alt') ?? '')
    else writeInline(child, writer)
  }
}

function getPreformattedText(element: HtmlElement): string {
  return element.children
    .map((child) => (typeof child === 'string' ? child : child.name === 'br' ? '\n' : getPreformattedText(child)))
    .join('')
}

function detectLanguage(element: HtmlElement): string {
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
  let isLayout = false
  writer.endParagraph()
  const collect = (element: HtmlElement) => {
    for (const child of element.children) {
      if (typeof child === 'string') writer.writeText(child)
      else if (child.name === 'tr') rows.push(readCells(child, writer))
      else if (child.name === 'td' || child.name === 'th') rows.push(readCells({ ...element, children: [child] }, writer))
      else if (ROW_GROUPS.has(child.name)) collect(child)
      else writeElement(child, writer)
    }
    writer.endParagraph()
  }
  collect(table)
  for (const row of rows) {
    for (const { element, text } of row) if (text.length > MAX_CELL_LENGTH || hasDescendant(element, LAYOUT_ELEMENTS)) isLayout = true
  }
  const columns = Math.max(0, ...rows.map((row) => row.filter(({ text }) => text !== '').length))
  if (isLayout || columns < 2) {
    for (const { element } of rows.flat()) {
      writer.endParagraph()
      writeHtml(element, writer)
      writer.endParagraph()
    }
    return
  }
  // Without header cells, empty cells are spacing; with them, they keep their column.
  const hasHeader = rows[0]?.every(({ element }) => element.name === 'th') ?? false
  const written = rows
    .map((row) => row.map(({ text }) => text).filter((text) => hasHeader || text !== ''))
    .filter((row) => row.some((text) => text !== ''))
  if (written.length > 0) writer.writeTable(written)
}

const ROW_GROUPS = new Set(['thead', 'tbody', 'tfoot', 'colgroup'])
const LAYOUT_ELEMENTS = new Set(['table', 'pre', 'h1', 'h2', 'h3', 'blockquote'])

function hasDescendant(element: HtmlElement, names: Set<string>): boolean {
  return element.children.some((child) => typeof child !== 'string' && (names.has(child.name) || hasDescendant(child, names)))
}

/** Returns the cells of a row. Content between cells is written before the table, as browsers show it. */
function readCells(row: HtmlElement, writer: MarkdownWriter): Cell[] {
  const cells: Cell[] = []
  for (const child of row.children) {
    if (typeof child === 'string') writer.writeText(child)
    else if (child.name === 'td' || child.name === 'th') cells.push({ element: child, text: getCellText(child) })
    else writeElement(child, writer)
  }
  return cells
}

function getCellText(cell: HtmlElement): string {
  const parts: string[] = []
  const collect = (element: HtmlElement) => {
    for (const child of element.children) {
      if (typeof child === 'string') parts.push(child)
      else {
        const isSeparate = child.name === 'br' || child.name === 'li' || child.name === 'p' || child.name === 'div'
        if (isSeparate) parts.push(' ')
        collect(child)
        if (isSeparate) parts.push(' ')
      }
    }
  }
  collect(cell)
  return parts
    .join('')
    .replaceAll(/[\s\u00a0\u200b]+/g, ' ')
    .trim()
}
