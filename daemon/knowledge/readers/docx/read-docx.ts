/** Reads Word documents: converts headings, lists, tables, notes and pages from XML without building a tree. */
import { MAX_CELL_LENGTH, MarkdownWriter } from '../markdown-writer.ts'
import { cleanText, DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'
import {
  findAttribute,
  getLocalName,
  type Numbering,
  parseOutlineLevel,
  readNotes,
  readNumbering,
  readStyles,
  type Style,
} from './parts.ts'

export function readDocx(archive: ZipArchive): ParsedDocument {
  const main = findMainPart(archive)
  const folder = main.slice(0, main.lastIndexOf('/') + 1)
  const converter = new DocxConverter(
    readStyles(archive.readText(`${folder}styles.xml`)),
    readNumbering(archive.readText(`${folder}numbering.xml`)),
    readNotes(archive.readText(`${folder}footnotes.xml`)),
    readNotes(archive.readText(`${folder}endnotes.xml`)),
  )
  walkMarkup(archive.readText(main), 'xml', converter)
  return {
    text: cleanText(converter.finish()),
    format: 'markdown',
    pages: converter.pages,
    title: findTitle(archive) ?? converter.firstHeading,
  }
}

function findMainPart(archive: ZipArchive): string {
  let target: string | undefined
  walkMarkup(archive.readText('_rels/.rels'), 'xml', {
    open(name, attributes) {
      if (getLocalName(name) === 'Relationship' && findAttribute(attributes, 'Type')?.endsWith('/officeDocument'))
        target ??= findAttribute(attributes, 'Target')?.replace(/^\//, '')
    },
  })
  const main = target !== undefined && archive.has(target) ? target : 'word/document.xml'
  if (!archive.has(main)) throw new DocumentReadError('The Word document is damaged: its main part is missing.')
  return main
}

function findTitle(archive: ZipArchive): string | null {
  const title = /<dc:title>([^<]{1,300})/.exec(archive.readText('docProps/core.xml'))?.[1]?.trim()
  return title || null
}

interface Paragraph {
  style: Style | undefined
  heading: number | undefined
  numbering: Numbering | undefined
  parts: string[]
}

interface Table {
  rows: string[][]
  cell: string[]
}

/** Handles the tags of the main part. Writes a paragraph or an outermost table when it ends. */
class DocxConverter {
  readonly pages: ParsedDocument['pages'] = []
  firstHeading: string | null = null
  readonly #styles: Map<string, Style>
  readonly #isNumbered: (numbering: Numbering) => boolean
  readonly #notes: Record<'footnote' | 'endnote', Map<string, string>>
  readonly #usedNotes: string[] = []
  readonly #writer = new MarkdownWriter()
  readonly #paragraphs: Paragraph[] = []
  readonly #tables: Table[] = []
  #listDepth = 0
  #inText = false
  #inProperties = false
  /** Depth within an element that is not shown: moved text, or the fallback of newer markup. */
  #skipDepth = 0

  constructor(
    styles: Map<string, Style>,
    isNumbered: (numbering: Numbering) => boolean,
    footnotes: Map<string, string>,
    endnotes: Map<string, string>,
  ) {
    this.#styles = styles
    this.#isNumbered = isNumbered
    this.#notes = { footnote: footnotes, endnote: endnotes }
  }

  open(name: string, attributes: string, isSelfClosing: boolean): void {
    const tag = getLocalName(name)
    if (this.#skipDepth > 0 || tag === 'Fallback' || tag === 'moveFrom') {
      if (!isSelfClosing) this.#skipDepth++
      return
    }
    if (tag === 'p' && !isSelfClosing) this.#paragraphs.push({ style: undefined, heading: undefined, numbering: undefined, parts: [] })
    else if (tag === 't') this.#inText = !isSelfClosing
    else if (tag === 'pPr') this.#inProperties = !isSelfClosing
    else if (tag === 'tbl') this.#tables.push({ rows: [], cell: [] })
    else if (tag === 'tr') this.#tables.at(-1)?.rows.push([])
    else if (this.#inProperties) this.#readProperty(tag, attributes)
    else this.#readRunElement(tag, attributes)
  }

  close(name: string): void {
    const tag = getLocalName(name)
    if (this.#skipDepth > 0) {
      this.#skipDepth--
      return
    }
    if (tag === 't') this.#inText = false
    else if (tag === 'pPr') this.#inProperties = false
    else if (tag === 'p') this.#endParagraph()
    else if (tag === 'tc') this.#endCell()
    else if (tag === 'tbl') this.#endTable()
  }

  text(text: string): void {
    if (this.#inText && this.#skipDepth === 0) this.#paragraphs.at(-1)?.parts.push(text)
  }

  finish(): string {
    this.#setListDepth(0)
    for (const note of this.#usedNotes) {
      this.#writer.writeText(note)
      this.#writer.endParagraph()
    }
    return this.#writer.finish()
  }

  #readProperty(tag: string, attributes: string): void {
    const paragraph = this.#paragraphs.at(-1)
    if (!paragraph) return
    const value = findAttribute(attributes, 'val') ?? ''
    if (tag === 'pStyle') paragraph.style = this.#styles.get(value)
    else if (tag === 'outlineLvl') paragraph.heading = parseOutlineLevel(value)
    else if (tag === 'numId') paragraph.numbering = { id: value, level: paragraph.numbering?.level ?? 0 }
    else if (tag === 'ilvl') paragraph.numbering = { id: paragraph.numbering?.id ?? '', level: Number(value) || 0 }
  }

  #readRunElement(tag: string, attributes: string): void {
    const parts = this.#paragraphs.at(-1)?.parts
    // Page starts of the last layout. Manual page breaks are only some of them.
    if (tag === 'lastRenderedPageBreak') this.#startPage()
    else if (tag === 'br' || tag === 'cr') parts?.push('\n')
    else if (tag === 'tab' || tag === 'ptab') parts?.push(' ')
    else if (tag === 'noBreakHyphen') parts?.push('-')
    else if (tag === 'footnoteReference' || tag === 'endnoteReference')
      this.#addNoteReference(tag === 'footnoteReference' ? 'footnote' : 'endnote', attributes, parts)
  }

  #addNoteReference(kind: 'footnote' | 'endnote', attributes: string, parts: string[] | undefined): void {
    const note = this.#notes[kind].get(findAttribute(attributes, 'id') ?? '')
    if (note === undefined) return
    parts?.push(`[^${this.#usedNotes.length + 1}]`)
    this.#usedNotes.push(`[^${this.#usedNotes.length + 1}]: ${note}`)
  }

  #startPage(): void {
    if (this.pages.length === 0) this.pages.push({ number: 1, start: 0 })
    const number = (this.pages.at(-1)?.number ?? 1) + 1
    const start = this.#writer.length
    if (this.pages.at(-1)?.start === start) this.pages.pop()
    this.pages.push({ number, start })
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop()
    if (!paragraph) return
    const text = paragraph.parts.join('')
    const table = this.#tables.at(-1)
    if (table) table.cell.push(text)
    else if (/\S/.test(text)) this.#writeParagraph(paragraph, text)
  }

  #writeParagraph({ style, heading, numbering }: Paragraph, text: string): void {
    const level = heading ?? style?.heading
    const list = numbering ?? style?.numbering
    if (level !== undefined) {
      this.#setListDepth(0)
      this.firstHeading ??= text.replaceAll(/\s+/g, ' ').trim()
      this.#writer.writeText(text)
      this.#writer.endHeading(level)
      return
    }
    if (list && list.id !== '0' && list.id !== '') {
      this.#setListDepth(Math.min(list.level, 8) + 1, this.#isNumbered(list))
      this.#writer.startItem()
    } else this.#setListDepth(0)
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.#writer.writeNewline()
      this.#writer.writeText(line)
    }
    this.#writer.endParagraph()
  }

  #setListDepth(depth: number, numbered = false): void {
    for (; this.#listDepth > depth; this.#listDepth--) this.#writer.endList()
    for (; this.#listDepth < depth; this.#listDepth++) this.#writer.startList(numbered)
  }

  #endCell(): void {
    const table = this.#tables.at(-1)
    if (!table) return
    const row = table.rows.at(-1)
    row?.push(table.cell.join('\n').trim())
    table.cell = []
  }

  /** A nested table becomes text of its cell. */
  #endTable(): void {
    const table = this.#tables.pop()
    if (!table) return
    const rows = table.rows.filter((row) => row.some((cell) => cell !== ''))
    const outer = this.#tables.at(-1)
    if (outer) {
      outer.cell.push(rows.map((row) => row.join(' ')).join('\n'))
      return
    }
    this.#setListDepth(0)
    const isLayout = rows.some((row) => row.some((cell) => cell.length > MAX_CELL_LENGTH)) || rows.every((row) => row.length < 2)
    if (!isLayout) this.#writer.writeTable(rows.map((row) => row.map((cell) => cell.replaceAll(/\s+/g, ' '))))
    else
      for (const paragraph of rows.flat().join('\n').split('\n')) {
        this.#writer.writeText(paragraph)
        this.#writer.endParagraph()
      }
  }
}
