/** Opens OpenDocument spreadsheets. Their cells contain the text that a person sees. */
import { describeUnreadObjects, findOpenDocumentTitle } from '../opendocument/parts.ts'
import { DocumentReadError } from '../parsed-document.ts'
import { parseAttributes, walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { type MergedRange, repeatMergedCells } from './merged-cells.ts'
import { type Cell, MAX_COLUMNS, MAX_COMMENT_LENGTH, type Row, requireSheetLimit, type Sheet, type Workbook } from './workbook.ts'
import { encodeAsUtf8, sliceAtTag } from './xlsx-rows.ts'

const ROW_END = '</table:table-row>'
const TABLE_END = '</table:table>'
/** A few bytes can repeat a cell in every column of a million rows. */
const MAX_REPEATED_CELLS = 1_000_000

export function openOds(archive: ZipArchive): Workbook {
  const buffer = encodeAsUtf8(archive.readTransient('content.xml'))
  const hidden = listHiddenStyles(buffer)
  const sheets: Sheet[] = []
  for (let start = buffer.indexOf('<table:table '); start >= 0; ) {
    const end = buffer.indexOf(TABLE_END, start)
    if (end < 0) throw new DocumentReadError('The spreadsheet is damaged: a sheet has no end.')
    const attributes = parseAttributes(buffer.toString('utf8', start + 12, buffer.indexOf('>', start)))
    const comments = new Map<string, string>()
    const table = buffer.subarray(start, end)
    sheets.push({
      name: attributes.get('table:name') ?? '',
      isHidden: hidden.has(attributes.get('table:style-name') ?? ''),
      readRows: () => readSheet(table, comments),
      comments,
    })
    start = buffer.indexOf('<table:table ', end)
  }
  if (sheets.length === 0) throw new DocumentReadError('The spreadsheet is damaged: it has no sheets.')
  requireSheetLimit(sheets.length)
  return { sheets, title: findOpenDocumentTitle(archive), describeUnread: () => describeUnreadObjects(archive) ?? '' }
}

/** Returns the table styles that hide a sheet. They are declared before the sheets. */
function listHiddenStyles(buffer: Buffer): Set<string> {
  const hidden = new Set<string>()
  const end = buffer.indexOf('<office:body')
  let style = ''
  walkMarkup(buffer.toString('utf8', 0, Math.max(0, end)), 'xml', {
    open(name, attributes) {
      if (name === 'style:style') style = parseAttributes(attributes).get('style:name') ?? ''
      if (name === 'style:table-properties' && parseAttributes(attributes).get('table:display') === 'false') hidden.add(style)
    },
  })
  return hidden
}

/** Merged cells are declared in their first cell, so the ranges are found first. Comments are collected with the rows. */
function* readSheet(table: Buffer, comments: Map<string, string>): Generator<Row> {
  const hasMergedCells = table.includes('table:number-columns-spanned') || table.includes('table:number-rows-spanned')
  const ranges: MergedRange[] = []
  const read = () => new OdsRows(table, comments, ranges).read()
  if (!hasMergedCells) return yield* read()
  for (const _ of read()) {
    // Only the ranges are needed.
  }
  yield* repeatMergedCells(read(), ranges.splice(0))
}

interface OpenCell {
  attributes: Map<string, string>
  paragraphs: string[]
  comment: string[]
}

class OdsRows {
  readonly #table: Buffer
  readonly #comments: Map<string, string>
  readonly #ranges: MergedRange[]
  #number = 1
  #repeatedCells = 0
  #row: { repeat: number; column: number; cells: Cell[] } | undefined
  #cell: OpenCell | undefined
  #inComment = false
  #paragraph: string[] | undefined

  constructor(table: Buffer, comments: Map<string, string>, ranges: MergedRange[]) {
    this.#table = table
    this.#comments = comments
    this.#ranges = ranges
  }

  *read(): Generator<Row> {
    for (const slice of sliceAtTag(this.#table, ROW_END)) {
      const rows: Row[] = []
      walkMarkup(slice, 'xml', {
        open: (name, attributes, isSelfClosing) => this.#open(name, attributes, isSelfClosing, rows),
        close: (name) => this.#close(name, rows),
        text: (text) => void this.#paragraph?.push(text),
      })
      yield* rows
    }
  }

  #open(name: string, attributes: string, isSelfClosing: boolean, rows: Row[]): void {
    if (name === 'table:table-row') {
      this.#row = { repeat: readCount(parseAttributes(attributes), 'table:number-rows-repeated'), column: 0, cells: [] }
      if (isSelfClosing) this.#endRow(rows)
    } else if (name === 'table:table-cell' || name === 'table:covered-table-cell') {
      this.#cell = { attributes: parseAttributes(attributes), paragraphs: [], comment: [] }
      if (isSelfClosing) this.#endCell()
    } else if (name === 'office:annotation') this.#inComment = !isSelfClosing
    else if (name === 'text:p' && !isSelfClosing) this.#paragraph = []
    else if (name === 'text:s') this.#paragraph?.push(' ')
    else if (name === 'text:tab' || name === 'text:line-break') this.#paragraph?.push(' ')
  }

  #close(name: string, rows: Row[]): void {
    if (name === 'table:table-row') this.#endRow(rows)
    else if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.#endCell()
    else if (name === 'office:annotation') this.#inComment = false
    else if (name === 'text:p') {
      const text = this.#paragraph?.join('').trim() ?? ''
      if (text !== '') (this.#inComment ? this.#cell?.comment : this.#cell?.paragraphs)?.push(text)
      this.#paragraph = undefined
    }
  }

  #endCell(): void {
    const [row, cell] = [this.#row, this.#cell]
    this.#cell = undefined
    if (!row || !cell) return
    const { attributes, paragraphs, comment } = cell
    const repeat = readCount(attributes, 'table:number-columns-repeated')
    const [column, number] = [row.column, this.#number]
    row.column += repeat
    if (column >= MAX_COLUMNS) return
    if (comment.length > 0) this.#comments.set(`${number}:${column}`, comment.join(' ').slice(0, MAX_COMMENT_LENGTH))
    const lastColumn = column + readCount(attributes, 'table:number-columns-spanned') - 1
    const lastRow = number + readCount(attributes, 'table:number-rows-spanned') - 1
    if (lastColumn > column || lastRow > number) this.#ranges.push({ firstRow: number, lastRow, firstColumn: column, lastColumn })
    const text = paragraphs.join(' ') || formatMissingText(attributes)
    if (text === '') return
    const count = this.#repeatedCells + repeat > MAX_REPEATED_CELLS ? 1 : Math.min(repeat, MAX_COLUMNS - column)
    if (repeat > 1) this.#repeatedCells += count
    const value = readValue(attributes, text)
    const isDate = attributes.get('office:value-type') === 'date'
    for (let index = 0; index < count; index++) row.cells.push({ column: column + index, text, value, isDate, isRepeated: false })
  }

  #endRow(rows: Row[]): void {
    const row = this.#row
    this.#row = undefined
    if (!row) return
    const { cells, repeat } = row
    const cost = cells.length * repeat
    const count = cells.length === 0 ? 0 : repeat > 1 && this.#repeatedCells + cost > MAX_REPEATED_CELLS ? 1 : repeat
    if (repeat > 1) this.#repeatedCells += cells.length * count
    for (let index = 0; index < count; index++) rows.push({ number: this.#number + index, cells })
    this.#number += repeat
  }
}

function readCount(attributes: ReadonlyMap<string, string>, name: string): number {
  const count = Number(attributes.get(name) ?? 1)
  return Number.isInteger(count) && count > 0 ? Math.min(count, 2 ** 20) : 1
}

/** Some programs store values without their text. */
function formatMissingText(attributes: ReadonlyMap<string, string>): string {
  for (const name of ['office:string-value', 'office:date-value', 'office:boolean-value', 'office:value']) {
    const value = attributes.get(name)
    if (value !== undefined) return value
  }
  return ''
}

function readValue(attributes: ReadonlyMap<string, string>, text: string): Cell['value'] {
  const number = Number(attributes.get('office:value') ?? Number.NaN)
  switch (attributes.get('office:value-type')) {
    case 'float':
    case 'percentage':
    case 'currency':
      return Number.isNaN(number) ? text : number
    case 'boolean':
      return attributes.get('office:boolean-value') === 'true'
    case 'date':
      return attributes.get('office:date-value') ?? text
    default:
      return text
  }
}
