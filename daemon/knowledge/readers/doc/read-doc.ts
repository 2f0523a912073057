/** Reads Word 97-2003 documents: headings, lists, tables, notes and pages ([MS-DOC]). */
import type { Storage } from '../compound-file.ts'
import { DocumentWriter } from '../document-writer.ts'
import { cleanText, DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import {
  createProperties,
  type DocStyle,
  findRun,
  type ParagraphProperties,
  readDocLists,
  readDocStyles,
  readHiddenRuns,
  readParagraphRuns,
} from './formatting.ts'
import { type DocText, readPieces } from './pieces.ts'

const WORD_97 = 0xc1
/** Indexes of the tables whose places are in the header. */
const TABLES = {
  styles: 1,
  footnoteReferences: 2,
  footnoteTexts: 3,
  characters: 12,
  paragraphs: 13,
  pieces: 33,
  endnoteReferences: 46,
  endnoteTexts: 47,
  lists: 73,
  listOverrides: 74,
}
const HEADER_LENGTH = 154

export function readDoc(root: Storage): ParsedDocument {
  try {
    return convertDoc(root)
  } catch (error) {
    // An offset is outside of its stream.
    if (error instanceof RangeError) throw new DocumentReadError('The Word document is damaged: a part of it is missing.')
    throw error
  }
}

function convertDoc({ streams, storages }: Storage): ParsedDocument {
  const main = streams.get('WordDocument')?.() ?? Buffer.alloc(0)
  if (main.length < HEADER_LENGTH || main.readUInt16LE(0) !== 0xa5ec)
    throw new DocumentReadError('The Word document is damaged: it has no header.')
  if (main.readUInt16LE(2) < WORD_97)
    throw new DocumentReadError('This document was saved by Word 95 or earlier, which is not supported. Save it as .docx.')
  const flags = main.readUInt16LE(10)
  if ((flags & 0x100) !== 0) throw new DocumentReadError('The document is password-protected.')
  const table = streams.get((flags & 0x200) === 0 ? '0Table' : '1Table')?.()
  if (!table) throw new DocumentReadError('The Word document is damaged: its table stream is missing.')
  const readTable = (index: number, length?: number) => {
    const [start, size] = [main.readUInt32LE(HEADER_LENGTH + index * 8), main.readUInt32LE(HEADER_LENGTH + index * 8 + 4)]
    return size === 0 ? Buffer.alloc(0) : table.subarray(start, start + (length ?? size))
  }
  const converter = new DocConverter({
    text: readPieces(main, readTable(TABLES.pieces)),
    paragraphs: readParagraphRuns(main, readTable(TABLES.paragraphs)),
    hidden: readHiddenRuns(main, readTable(TABLES.characters)),
    styles: readDocStyles(readTable(TABLES.styles)),
    // The levels of the lists follow their table.
    isNumbered: readDocLists(readTable(TABLES.lists, table.length), readTable(TABLES.listOverrides)),
  })
  const readLength = (index: number) => main.readUInt32LE(64 + index * 4)
  const [body, footnotes, headers, macros, comments] = [3, 4, 5, 6, 7].map(readLength) as [number, number, number, number, number]
  converter.addNotes(readTable(TABLES.footnoteReferences), readTable(TABLES.footnoteTexts), body)
  converter.addNotes(readTable(TABLES.endnoteReferences), readTable(TABLES.endnoteTexts), body + footnotes + headers + macros + comments)
  converter.convert(0, body)
  const [endnotes, textBoxes] = [readLength(8), readLength(9)]
  const boxStart = body + footnotes + headers + macros + comments + endnotes
  converter.convert(boxStart, boxStart + textBoxes)
  return converter.writer.finishDocument(null, storages.has('Macros') ? 'Macros were not read.' : undefined)
}

interface DocParts {
  text: DocText
  paragraphs: ReturnType<typeof readParagraphRuns>
  hidden: ReturnType<typeof readHiddenRuns>
  styles: DocStyle[]
  isNumbered: (list: number, level: number) => boolean
}

/** Characters with a meaning of their own; those of pictures and other objects are left out. */
const CHARACTERS: Record<number, string> = { 9: ' ', 11: '\n', 30: '-', 160: ' ' }
const [CELL_END, PAGE_BREAK, PARAGRAPH_END, FIELD_START, FIELD_RESULT, FIELD_END] = [7, 12, 13, 19, 20, 21]

class DocConverter {
  readonly writer = new DocumentWriter()
  readonly #parts: DocParts
  /** Text of a note by the position of its mark. */
  readonly #notes = new Map<number, string>()
  #rows: string[][] = []
  #cells: string[] = []
  #cell: string[] = []

  constructor(parts: DocParts) {
    this.#parts = parts
  }

  addNotes(references: Buffer, texts: Buffer, start: number): void {
    const count = Math.max(0, Math.floor((references.length - 4) / 6))
    for (let index = 0; index < count && index * 4 + 8 <= texts.length; index++) {
      const [from, to] = [texts.readUInt32LE(index * 4), texts.readUInt32LE(index * 4 + 4)]
      const text = this.#parts.text.slice(start + from, start + to).replaceAll(/[\u0000-\u001f\s]+/g, ' ')
      this.#notes.set(references.readUInt32LE(index * 4), text.trim())
    }
  }

  convert(start: number, end: number): void {
    const { text } = this.#parts
    let parts: string[] = []
    /** For each open field, whether its result has begun; what comes before it is an instruction. */
    const fields: boolean[] = []
    let instructions = 0
    for (let position = start; position < Math.min(end, text.length); position++) {
      const code = text.getCode(position)
      if (code === FIELD_START) {
        fields.push(false)
        instructions++
      } else if (code === FIELD_RESULT || code === FIELD_END) {
        if (fields.pop() === false) instructions--
        if (code === FIELD_RESULT) fields.push(true)
      } else if (code === PARAGRAPH_END || code === CELL_END || code === PAGE_BREAK) {
        this.#endParagraph(parts.join(''), code, position)
        parts = []
      } else if (instructions === 0 && !this.#isHidden(position)) {
        const note = code === 2 ? this.#notes.get(position) : undefined
        if (note) parts.push(this.writer.addNote(note))
        else parts.push(CHARACTERS[code] ?? (code < 32 ? '' : String.fromCharCode(code)))
      }
    }
    this.#endParagraph(parts.join(''), PARAGRAPH_END, Math.min(end, text.length) - 1)
    this.#endTable()
  }

  #isHidden(position: number): boolean {
    return this.#parts.hidden.length > 0 && findRun(this.#parts.hidden, this.#parts.text.getOffset(position)) !== undefined
  }

  #endParagraph(source: string, mark: number, position: number): void {
    const { paragraphs, styles, isNumbered, text: document } = this.#parts
    const properties = findRun(paragraphs, document.getOffset(position)) ?? createProperties()
    // Cleaned here, because offsets of pages are counted from now on.
    const text = cleanText(source)
    if (mark === CELL_END || properties.isInTable) {
      this.#addToTable(text, mark, properties)
      return
    }
    if (/\S/.test(text) || mark === PAGE_BREAK) this.#endTable()
    if (properties.breaksPage && this.writer.length > 0) this.writer.startPage('manual')
    const style = styles[properties.style]
    const heading = properties.outline !== undefined && properties.outline < 6 ? properties.outline + 1 : style?.heading
    const list = properties.list > 0 ? properties.list : (style?.list ?? 0)
    const level = properties.list > 0 ? properties.level : (style?.level ?? 0)
    this.writer.writeParagraph(text, { heading, list: list > 0 ? { level, isNumbered: isNumbered(list, level) } : undefined })
    if (mark === PAGE_BREAK) this.writer.startPage('manual')
  }

  #addToTable(text: string, mark: number, { isRowEnd }: ParagraphProperties): void {
    if (mark === CELL_END && isRowEnd) {
      if (this.#cells.some((cell) => cell !== '')) this.#rows.push(this.#cells)
      this.#cells = []
      return
    }
    this.#cell.push(text)
    if (mark !== CELL_END) return
    this.#cells.push(this.#cell.join('\n').trim())
    this.#cell = []
  }

  #endTable(): void {
    if (this.#cell.length > 0 || this.#cells.length > 0) this.#rows.push([...this.#cells, ...this.#cell])
    if (this.#rows.length > 0) this.writer.writeTable(this.#rows)
    this.#rows = []
    this.#cells = []
    this.#cell = []
  }
}
