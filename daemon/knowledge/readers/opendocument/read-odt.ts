/** Reads the text of OpenDocument files: headings, lists, tables, notes and pages, without building a tree. */
import { DocumentWriter, type PageBreak } from '../document-writer.ts'
import { cleanText, type ParsedDocument } from '../parsed-document.ts'
import { parseAttributes, walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { describeUnreadObjects, findOpenDocumentTitle, findStyleProperty, readStyles, type Styles } from './parts.ts'

/** Elements whose text is not part of the document: deleted text, comments, generated lists. */
export const SKIPPED_ELEMENTS = new Set([
  ...['text:tracked-changes', 'office:annotation', 'text:table-of-content', 'text:note-citation', 'text:sequence-decls', 'office:forms'],
  ...['presentation:footer-decl', 'presentation:header-decl', 'presentation:date-time-decl', 'text:ruby-text', 'math:math'],
])
const MAX_REPEATED_CELLS = 100
const MAX_SPACES = 100

export function readOdt(archive: ZipArchive): ParsedDocument {
  const content = archive.readText('content.xml')
  const converter = new TextConverter(readStyles(content, readStyles(archive.readText('styles.xml'))))
  walkMarkup(content, 'xml', converter)
  return converter.writer.finishDocument(findOpenDocumentTitle(archive), describeUnreadObjects(archive))
}

interface Paragraph {
  style: string
  heading: number | undefined
  parts: string[]
}

interface Table {
  rows: string[][]
  cell: string[]
}

export class TextConverter {
  readonly writer = new DocumentWriter()
  readonly skipped = SKIPPED_ELEMENTS
  /** Whether paragraphs are neither written nor kept. */
  isSkipping = false
  readonly #styles: Styles
  readonly #paragraphs: Paragraph[] = []
  readonly #tables: Table[] = []
  /** Style of each list around the paragraph. */
  readonly #lists: string[] = []
  readonly #notes: string[][] = []

  constructor(styles: Styles) {
    this.#styles = styles
  }

  open(name: string, source: string, isSelfClosing: boolean): void {
    const read = (attribute: string) => parseAttributes(source).get(attribute)
    const parts = this.#paragraphs.at(-1)?.parts
    if (name === 'text:p' || name === 'text:h') {
      if (!isSelfClosing) this.#startParagraph(name, read)
    } else if (name === 'text:list') this.#lists.push(read('text:style-name') ?? this.#lists.at(-1) ?? '')
    else if (name === 'text:s') parts?.push(' '.repeat(Math.min(Number(read('text:c') ?? 1) || 1, MAX_SPACES)))
    else if (name === 'text:tab') parts?.push(' ')
    else if (name === 'text:line-break') parts?.push('\n')
    else if (name === 'text:soft-page-break') this.#startPage('rendered')
    else if (name === 'text:note-body') this.#notes.push([])
    else this.#openTable(name, read, isSelfClosing)
  }

  close(name: string): void {
    if (name === 'text:p' || name === 'text:h') this.#endParagraph()
    else if (name === 'text:list') this.#lists.pop()
    else if (name === 'text:note-body') this.#endNote()
    else if (name === 'table:table-cell') this.#endCell()
    else if (name === 'table:table') this.#endTable()
  }

  text(text: string): void {
    // Cleaned here, because offsets of pages are counted from now on.
    this.#paragraphs.at(-1)?.parts.push(cleanText(text).replaceAll(/\s+/g, ' '))
  }

  #startParagraph(name: string, read: (attribute: string) => string | undefined): void {
    const style = read('text:style-name') ?? ''
    const outline = name === 'text:h' ? Math.max(1, Number(read('text:outline-level') ?? 1) || 1) : undefined
    this.#paragraphs.push({ style, heading: outline ?? findStyleProperty(this.#styles, style, 'heading'), parts: [] })
    // The first paragraph may name the layout of its page.
    if (this.#styles.paragraphs.get(style)?.breaksPage && this.writer.length > 0) this.#startPage('manual')
  }

  #startPage(kind: PageBreak): void {
    if (this.#tables.length === 0 && this.#notes.length === 0) this.writer.startPage(kind)
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop()
    if (!paragraph || this.isSkipping) return
    const text = paragraph.parts.join('')
    const [note, table, list] = [this.#notes.at(-1), this.#tables.at(-1), this.#lists.at(-1)]
    if (note) note.push(text)
    else if (table) table.cell.push(text)
    else if (list !== undefined && paragraph.heading === undefined) {
      const level = this.#lists.length
      const style = list || findStyleProperty(this.#styles, paragraph.style, 'listStyle') || ''
      this.writer.writeParagraph(text, { list: { level: level - 1, isNumbered: this.#styles.numberedLevels.has(`${style}:${level}`) } })
    } else this.writer.writeParagraph(text, { heading: paragraph.heading })
  }

  /** The mark of a note stays where the note was. */
  #endNote(): void {
    const text = this.#notes.pop()?.join(' ').replaceAll(/\s+/g, ' ').trim() ?? ''
    if (text !== '' && !this.isSkipping) this.#paragraphs.at(-1)?.parts.push(this.writer.addNote(text))
  }

  #openTable(name: string, read: (attribute: string) => string | undefined, isSelfClosing: boolean): void {
    if (name === 'table:table') this.#tables.push({ rows: [], cell: [] })
    else if (name === 'table:table-row') this.#tables.at(-1)?.rows.push([])
    else if (name === 'table:covered-table-cell' || (name === 'table:table-cell' && isSelfClosing)) {
      const count = Math.min(Number(read('table:number-columns-repeated') ?? 1) || 1, MAX_REPEATED_CELLS)
      this.#tables
        .at(-1)
        ?.rows.at(-1)
        ?.push(...Array<string>(count).fill(''))
    }
  }

  #endCell(): void {
    const table = this.#tables.at(-1)
    if (!table) return
    table.rows.at(-1)?.push(table.cell.join('\n').trim())
    table.cell = []
  }

  /** A nested table becomes text of its cell. */
  #endTable(): void {
    const table = this.#tables.pop()
    const rows = table?.rows.filter((cells) => cells.some((cell) => cell !== '')) ?? []
    const outer = this.#tables.at(-1)
    if (outer) outer.cell.push(rows.map((cells) => cells.join(' ')).join('\n'))
    else if (rows.length > 0 && !this.isSkipping) this.writer.writeTable(rows)
  }
}
