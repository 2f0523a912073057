/** Writes the paragraphs, lists, tables and notes of a word processor or presentation as Markdown. */
import { MAX_CELL_LENGTH, MarkdownWriter } from './markdown-writer.ts'
import { cleanText, type ParsedDocument } from './parsed-document.ts'

interface ParagraphFormat {
  heading?: number | undefined
  list?: { level: number; isNumbered: boolean } | undefined
}

/** Word marks where pages started when it last saved the document (rendered). Other programs only store the breaks of the author. */
export type PageBreak = 'rendered' | 'manual'

const MAX_LIST_LEVEL = 8

export class DocumentWriter {
  #firstHeading: string | null = null
  readonly #writer = new MarkdownWriter()
  readonly #pageStarts: Record<PageBreak, number[]> = { rendered: [], manual: [] }
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

  /** Starts a page at an offset of the text, or after the whitespace there. Default: after the text so far. */
  startPage(kind: PageBreak, offset = this.length): void {
    this.#pageStarts[kind].push(offset)
  }

  /** Returns the document with its pages. Without a title, it has that of its first heading. */
  finishDocument(title: string | null, notice: string | undefined): ParsedDocument {
    const text = cleanText(this.finish())
    // Manual breaks only count without rendered ones, which include them.
    const { rendered, manual } = this.#pageStarts
    const pages = listPages(text, rendered.length > 0 ? rendered : manual)
    return { text, format: 'markdown', pages, title: title ?? this.#firstHeading, notice }
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

function listPages(text: string, starts: readonly number[]): ParsedDocument['pages'] {
  const pages: ParsedDocument['pages'] = []
  let number = 1
  for (const offset of starts) {
    let start = offset
    while (/^\s/.test(text.charAt(start))) start++
    if (start >= text.length) break
    if (pages.length === 0) pages.push({ number, start: 0 })
    number++
    // An empty page: only the last page that starts here has text.
    if (pages.at(-1)?.start === start) pages.pop()
    pages.push({ number, start })
  }
  return pages
}
