/** Reads Word documents: headings, lists, tables, notes and pages, straight from their XML and without building a tree of it. */

import { cleaned, type ReadDocument, ReadFailure } from '../document.ts'
import { MarkdownWriter } from '../markdown-writer.ts'
import { walkMarkup } from '../markup.ts'
import type { Archive } from '../zip.ts'
import { attribute, local, type Numbering, outline, partText, readNotes, readNumbering, readStyles, type Style } from './parts.ts'

const LONGEST_CELL = 1_000

export function readDocx(archive: Archive): ReadDocument {
  const main = mainPart(archive)
  const folder = main.slice(0, main.lastIndexOf('/') + 1)
  const text = new DocxText(
    readStyles(partText(archive, `${folder}styles.xml`)),
    readNumbering(partText(archive, `${folder}numbering.xml`)),
    readNotes(partText(archive, `${folder}footnotes.xml`)),
    readNotes(partText(archive, `${folder}endnotes.xml`)),
  )
  const xml = partText(archive, main)
  walkMarkup(xml, text, 'xml')
  return { text: cleaned(text.finish()), format: 'markdown', pages: text.pages, title: titleOf(archive) ?? text.firstHeading }
}

function mainPart(archive: Archive): string {
  let found: string | undefined
  walkMarkup(
    partText(archive, '_rels/.rels'),
    {
      open(name, written) {
        if (local(name) === 'Relationship' && attribute(written, 'Type')?.endsWith('/officeDocument'))
          found ??= attribute(written, 'Target')?.replace(/^\//, '')
      },
      close() {},
      text() {},
    },
    'xml',
  )
  const main = found !== undefined && archive.has(found) ? found : 'word/document.xml'
  if (!archive.has(main)) throw new ReadFailure('The Word document is damaged: the part with its text is missing.')
  return main
}

function titleOf(archive: Archive): string | null {
  const title = /<dc:title>([^<]{1,300})/.exec(partText(archive, 'docProps/core.xml'))?.[1]?.trim()
  return title ? title : null
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

/** Follows the tags of the text part; what it writes, it writes once a paragraph or an outermost table ends. */
class DocxText {
  readonly pages: { number: number; start: number }[] = []
  firstHeading: string | null = null
  readonly #styles: Map<string, Style>
  readonly #isNumbered: (numbering: Numbering) => boolean
  readonly #notes: Record<'footnote' | 'endnote', Map<string, string>>
  readonly #used: string[] = []
  readonly #writer = new MarkdownWriter()
  readonly #paragraphs: Paragraph[] = []
  readonly #tables: Table[] = []
  #listDepth = 0
  #inText = false
  #inProperties = false
  /** How many elements deep the text is in what is not shown: moved away, or the older form of what came before. */
  #skipped = 0

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

  open(name: string, written: string, closed: boolean): void {
    const tag = local(name)
    if (this.#skipped > 0 || tag === 'Fallback' || tag === 'moveFrom') {
      if (!closed) this.#skipped++
      return
    }
    if (tag === 'p' && !closed) this.#paragraphs.push({ style: undefined, heading: undefined, numbering: undefined, parts: [] })
    else if (tag === 't') this.#inText = !closed
    else if (tag === 'pPr') this.#inProperties = !closed
    else if (tag === 'tbl') this.#tables.push({ rows: [], cell: [] })
    else if (tag === 'tr') this.#tables.at(-1)?.rows.push([])
    else if (this.#inProperties) this.#property(tag, written)
    else this.#run(tag, written)
  }

  close(name: string): void {
    const tag = local(name)
    if (this.#skipped > 0) {
      this.#skipped--
      return
    }
    if (tag === 't') this.#inText = false
    else if (tag === 'pPr') this.#inProperties = false
    else if (tag === 'p') this.#endParagraph()
    else if (tag === 'tc') this.#endCell()
    else if (tag === 'tbl') this.#endTable()
  }

  text(text: string): void {
    if (this.#inText && this.#skipped === 0) this.#paragraphs.at(-1)?.parts.push(text)
  }

  finish(): string {
    this.#toList(0)
    for (const note of this.#used) {
      this.#writer.text(note)
      this.#writer.paragraph()
    }
    return this.#writer.finish()
  }

  #property(tag: string, written: string): void {
    const paragraph = this.#paragraphs.at(-1)
    if (!paragraph) return
    const value = attribute(written, 'val') ?? ''
    if (tag === 'pStyle') paragraph.style = this.#styles.get(value)
    else if (tag === 'outlineLvl') paragraph.heading = outline(value)
    else if (tag === 'numId') paragraph.numbering = { id: value, level: paragraph.numbering?.level ?? 0 }
    else if (tag === 'ilvl') paragraph.numbering = { id: paragraph.numbering?.id ?? '', level: Number(value) || 0 }
  }

  #run(tag: string, written: string): void {
    const parts = this.#paragraphs.at(-1)?.parts
    // Word marks where its pages began when it last laid out the document; breaks that the author made are only some of them.
    if (tag === 'lastRenderedPageBreak') this.#newPage()
    else if (tag === 'br' || tag === 'cr') parts?.push('\n')
    else if (tag === 'tab' || tag === 'ptab') parts?.push(' ')
    else if (tag === 'noBreakHyphen') parts?.push('-')
    else if (tag === 'footnoteReference' || tag === 'endnoteReference')
      this.#refer(tag === 'footnoteReference' ? 'footnote' : 'endnote', written, parts)
  }

  #refer(kind: 'footnote' | 'endnote', written: string, parts: string[] | undefined): void {
    const note = this.#notes[kind].get(attribute(written, 'id') ?? '')
    if (note === undefined) return
    parts?.push(`[^${this.#used.length + 1}]`)
    this.#used.push(`[^${this.#used.length + 1}]: ${note}`)
  }

  #newPage(): void {
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
    else if (/\S/.test(text)) this.#write(paragraph, text)
  }

  #write({ style, heading, numbering }: Paragraph, text: string): void {
    const level = heading ?? style?.heading
    const list = numbering ?? style?.numbering
    if (level !== undefined) {
      this.#toList(0)
      this.firstHeading ??= text.replaceAll(/\s+/g, ' ').trim()
      this.#writer.text(text)
      this.#writer.heading(level)
      return
    }
    if (list && list.id !== '0' && list.id !== '') {
      this.#toList(Math.min(list.level, 8) + 1, this.#isNumbered(list))
      this.#writer.item()
    } else this.#toList(0)
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.#writer.newline()
      this.#writer.text(line)
    }
    this.#writer.paragraph()
  }

  #toList(depth: number, numbered = false): void {
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

  /** A table in a cell becomes that cell's text. */
  #endTable(): void {
    const table = this.#tables.pop()
    if (!table) return
    const rows = table.rows.filter((row) => row.some((cell) => cell !== ''))
    const outer = this.#tables.at(-1)
    if (outer) {
      outer.cell.push(rows.map((row) => row.join(' ')).join('\n'))
      return
    }
    this.#toList(0)
    const laysOut = rows.some((row) => row.some((cell) => cell.length > LONGEST_CELL)) || rows.every((row) => row.length < 2)
    if (!laysOut) this.#writer.table(rows.map((row) => row.map((cell) => cell.replaceAll(/\s+/g, ' '))))
    else
      for (const paragraph of rows.flat().join('\n').split('\n')) {
        this.#writer.text(paragraph)
        this.#writer.paragraph()
      }
  }
}
