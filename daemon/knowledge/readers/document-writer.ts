/** Writes the paragraphs, lists, tables and notes of a word processor or presentation as Markdown. */
import { MAX_CELL_LENGTH, MarkdownWriter } from './markdown-writer.ts'
import { type PageBreak, PageTracker } from './page-tracker.ts'
import { cleanText, type ParsedDocument } from './parsed-document.ts'

interface ParagraphFormat {
  heading?: number | undefined
  list?: { level: number; isNumbered: boolean } | undefined
}

const MAX_LIST_LEVEL = 8

export class DocumentWriter {
  #firstHeading: string | null = null
  readonly #writer = new MarkdownWriter()
  readonly #pages = new PageTracker()
  readonly #notes: string[] = []
  #listDepth = 0

  /** Length of the text so far. The next block starts after it and the newlines between them. */
  get length(): number {
    return this.#writer.length
  }

  writeParagraph(text: string, { heading, list }: ParagraphFormat = {}): void {
    if (!/\S/.test(text)) return
    if (heading !== undefined) {
      this.#setListDepth(0)
      this.#firstHeading ??= text.replaceAll(/\s+/g, ' ').trim()
      this.#writer.writeText(text)
      this.#writer.endHeading(heading)
      return
    }
    if (list) {
      this.#setListDepth(Math.min(list.level, MAX_LIST_LEVEL) + 1, list.isNumbered)
      this.#writer.startItem()
    } else this.#setListDepth(0)
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.#writer.writeNewline()
      this.#writer.writeText(line)
    }
    this.#writer.endParagraph()
  }

  /** Writes a table, or its text if it is used for layout. Returns the offset of each row. */
  writeTable(rows: readonly string[][]): number[] {
    this.#setListDepth(0)
    const isLayout = rows.some((cells) => cells.some((cell) => cell.length > MAX_CELL_LENGTH)) || rows.every((cells) => cells.length < 2)
    if (!isLayout) return this.#writer.writeTable(rows.map((cells) => cells.map((cell) => cell.replaceAll(/\s+/g, ' '))))
    return rows.map((cells) => {
      const offset = this.#writer.length
      for (const paragraph of cells.join('\n').split('\n')) {
        this.#writer.writeText(paragraph)
        this.#writer.endParagraph()
      }
      return offset
    })
  }

  /** Adds a footnote, which is written at the end. Returns its mark. */
  addNote(text: string): string {
    const mark = `[^${this.#notes.length + 1}]`
    this.#notes.push(`${mark}: ${text}`)
    return mark
  }

  /** Starts a page at an offset, or after the text so far. */
  startPage(kind: PageBreak, offset = this.length): void {
    this.#pages.add(kind, offset)
  }

  /** Returns the document with its pages. Without a title, it has that of its first heading. */
  finishDocument(title: string | null, notice: string | undefined): ParsedDocument {
    const text = cleanText(this.finish())
    return { text, format: 'markdown', pages: this.#pages.listPages(text), title: title ?? this.#firstHeading, notice }
  }

  finish(): string {
    this.#setListDepth(0)
    for (const note of this.#notes) {
      this.#writer.writeText(note)
      this.#writer.endParagraph()
    }
    return this.#writer.finish()
  }

  #setListDepth(depth: number, isNumbered = false): void {
    for (; this.#listDepth > depth; this.#listDepth--) this.#writer.endList()
    for (; this.#listDepth < depth; this.#listDepth++) this.#writer.startList(isNumbered)
  }
}
