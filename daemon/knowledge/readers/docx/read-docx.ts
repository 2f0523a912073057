/** Reads Word documents: converts headings, lists, tables, notes and pages from XML without building a tree. */
import { DocumentWriter, type PageBreak } from '../document-writer.ts'
import { describeUnreadParts, findAttribute, findMainPart, findTitle } from '../open-package.ts'
import { cleanText, DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'
import {
  getStyle,
  hasStyledHeadings,
  isOn,
  type Numbering,
  parseOutlineLevel,
  readNotes,
  readNumbering,
  readStyles,
  type Style,
} from './parts.ts'

const UNREAD_PARTS: [RegExp, string][] = [
  [/\/vbaProject\.bin$/, 'macros'],
  [/\/charts\//, 'charts'],
  [/\/media\//, 'images'],
]

export function readDocx(archive: ZipArchive): ParsedDocument {
  const main = findMainPart(archive, 'word/document.xml')
  if (main === undefined) throw new DocumentReadError('The Word document is damaged: its main part is missing.')
  const folder = main.slice(0, main.lastIndexOf('/') + 1)
  const xml = archive.readText(main)
  const styles = readStyles(archive.readText(`${folder}styles.xml`))
  const converter = new DocxConverter({
    styles,
    isNumbered: readNumbering(archive.readText(`${folder}numbering.xml`)),
    notes: {
      footnote: readNotes(archive.readText(`${folder}footnotes.xml`)),
      endnote: readNotes(archive.readText(`${folder}endnotes.xml`)),
    },
    hasHeadings: hasStyledHeadings(xml, styles),
  })
  walkMarkup(xml, 'office', converter)
  return converter.writer.finishDocument(findTitle(archive), describeUnreadParts(archive.names, UNREAD_PARTS))
}

interface DocumentParts {
  styles: Map<string, Style>
  isNumbered: (numbering: Numbering) => boolean
  notes: Record<'footnote' | 'endnote', Map<string, string>>
  /** In a document without styled headings, short bold paragraphs are headings. */
  hasHeadings: boolean
}

interface Paragraph {
  style: Style | undefined
  heading: number | undefined
  numbering: Numbering | undefined
  parts: string[]
  hasText: boolean
  /** Whether all its text is bold. */
  isBold: boolean
  /** Pages that start after it. */
  pageBreaks: PageBreak[]
}

interface TableRow {
  cells: string[]
  /** The page that starts with the row, if one does. */
  pageBreak: PageBreak | undefined
}

interface Table {
  rows: TableRow[]
  cell: string[]
}

const BOLD_HEADING_LEVEL = 2
const MAX_BOLD_HEADING_LENGTH = 80

/** Handles the tags of the main part. Writes a paragraph or an outermost table when it ends. */
class DocxConverter {
  readonly writer = new DocumentWriter()
  /** Moved text, and the fallback of newer markup. */
  readonly skipped = new Set(['Fallback', 'moveFrom'])
  readonly #document: DocumentParts
  readonly #paragraphs: Paragraph[] = []
  readonly #tables: Table[] = []
  #inText = false
  #inProperties = false
  #isBoldRun = false

  constructor(document: DocumentParts) {
    this.#document = document
  }

  open(tag: string, attributes: string, isSelfClosing: boolean): void {
    if (tag === 'p' && !isSelfClosing) this.#paragraphs.push(createParagraph())
    else if (tag === 't') this.#inText = !isSelfClosing
    else if (tag === 'pPr') this.#inProperties = !isSelfClosing
    else if (tag === 'tbl') this.#tables.push({ rows: [], cell: [] })
    else if (tag === 'tr') this.#tables.at(-1)?.rows.push({ cells: [], pageBreak: undefined })
    else if (this.#inProperties) this.#readProperty(tag, attributes)
    else this.#readRunElement(tag, attributes)
  }

  close(tag: string): void {
    if (tag === 't') this.#inText = false
    else if (tag === 'pPr') this.#inProperties = false
    else if (tag === 'p') this.#endParagraph()
    else if (tag === 'tc') this.#endCell()
    else if (tag === 'tbl') this.#endTable()
  }

  text(text: string): void {
    const paragraph = this.#paragraphs.at(-1)
    if (!paragraph || !this.#inText) return
    // Cleaned here, because offsets of pages are counted from now on.
    const visible = cleanText(text)
    paragraph.parts.push(visible)
    if (!/\S/.test(visible)) return
    paragraph.hasText = true
    paragraph.isBold &&= this.#isBoldRun
  }

  #readProperty(tag: string, attributes: string): void {
    const paragraph = this.#paragraphs.at(-1)
    if (!paragraph) return
    const value = findAttribute(attributes, 'val') ?? ''
    if (tag === 'pStyle') paragraph.style = getStyle(this.#document.styles, value)
    else if (tag === 'outlineLvl') paragraph.heading = parseOutlineLevel(value)
    else if (tag === 'numId') paragraph.numbering = { id: value, level: paragraph.numbering?.level ?? 0 }
    else if (tag === 'ilvl') paragraph.numbering = { id: paragraph.numbering?.id ?? '', level: Number(value) || 0 }
    else if (tag === 'pageBreakBefore' && isOn(value)) this.#startPage('manual')
    // A section starts on a new page after this paragraph, unless its type says otherwise.
    else if (tag === 'sectPr') paragraph.pageBreaks = ['manual']
    else if (tag === 'type' && (value === 'continuous' || value === 'nextColumn')) paragraph.pageBreaks = []
  }

  #readRunElement(tag: string, attributes: string): void {
    const parts = this.#paragraphs.at(-1)?.parts
    if (tag === 'lastRenderedPageBreak') this.#startPage('rendered')
    else if (tag === 'br' && findAttribute(attributes, 'type') === 'page') this.#breakPage()
    else if (tag === 'r') this.#isBoldRun = false
    else if (tag === 'b') this.#isBoldRun = isOn(findAttribute(attributes, 'val') ?? '')
    else if (tag === 'br' || tag === 'cr') parts?.push('\n')
    else if (tag === 'tab' || tag === 'ptab') parts?.push(' ')
    else if (tag === 'noBreakHyphen') parts?.push('-')
    else if (tag === 'footnoteReference' || tag === 'endnoteReference')
      this.#addNoteReference(tag === 'footnoteReference' ? 'footnote' : 'endnote', attributes, parts)
  }

  #addNoteReference(kind: 'footnote' | 'endnote', attributes: string, parts: string[] | undefined): void {
    const note = this.#document.notes[kind].get(findAttribute(attributes, 'id') ?? '')
    if (note !== undefined) parts?.push(this.writer.addNote(note))
  }

  /** A paragraph or row that continues on the next page belongs to the page on which it starts. */
  #startPage(kind: PageBreak): void {
    const row = this.#tables[0]?.rows.at(-1)
    const paragraph = this.#paragraphs.at(-1)
    if (row) row.pageBreak ??= kind
    else if (paragraph?.hasText) paragraph.pageBreaks.push(kind)
    else this.writer.startPage(kind)
  }

  /** The text after a page break of the author is a new paragraph. */
  #breakPage(): void {
    const paragraph = this.#paragraphs.at(-1)
    if (paragraph && this.#tables.length === 0) {
      this.#writeParagraph(paragraph)
      Object.assign(paragraph, { parts: [], hasText: false })
    } else paragraph?.parts.push('\n')
    this.#startPage('manual')
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop()
    if (!paragraph) return
    const table = this.#tables.at(-1)
    if (table) table.cell.push(paragraph.parts.join(''))
    else this.#writeParagraph(paragraph)
    if (!table) for (const kind of paragraph.pageBreaks) this.writer.startPage(kind)
  }

  #writeParagraph({ style, heading, numbering, parts, isBold }: Paragraph): void {
    const text = parts.join('')
    if (!/\S/.test(text)) return
    const list = numbering ?? style?.numbering
    const isHeading = !this.#document.hasHeadings && isBold && !list && isHeadingText(text)
    const level = heading ?? style?.heading ?? (isHeading ? BOLD_HEADING_LEVEL : undefined)
    const isListed = list && list.id !== '0' && list.id !== ''
    const format = { heading: level, list: isListed ? { level: list.level, isNumbered: this.#document.isNumbered(list) } : undefined }
    this.writer.writeParagraph(text, format)
  }

  #endCell(): void {
    const table = this.#tables.at(-1)
    if (!table) return
    const row = table.rows.at(-1)
    row?.cells.push(table.cell.join('\n').trim())
    table.cell = []
  }

  /** A nested table becomes text of its cell. */
  #endTable(): void {
    const table = this.#tables.pop()
    if (!table) return
    const rows = table.rows.filter(({ cells }) => cells.some((cell) => cell !== ''))
    const outer = this.#tables.at(-1)
    if (outer) {
      outer.cell.push(rows.map(({ cells }) => cells.join(' ')).join('\n'))
      return
    }
    const offsets = this.writer.writeTable(rows.map(({ cells }) => cells))
    for (const [index, { pageBreak }] of rows.entries()) if (pageBreak) this.writer.startPage(pageBreak, offsets[index])
  }
}

function createParagraph(): Paragraph {
  return { style: undefined, heading: undefined, numbering: undefined, parts: [], hasText: false, isBold: true, pageBreaks: [] }
}

const isHeadingText = (text: string): boolean => text.trim().length <= MAX_BOLD_HEADING_LENGTH && !/[.!?,;:]\s*$|\n/.test(text)
