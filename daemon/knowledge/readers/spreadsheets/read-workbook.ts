/** Converts a workbook to text: each sheet as records of "column: value", like a CSV file. */
import { splitByWeight } from '../../split-by-weight.ts'
import { cleanText, type DocumentPart, type ParsedDocument } from '../parsed-document.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { findTables, type SheetEvent } from './find-tables.ts'
import { openOds } from './open-ods.ts'
import { openXlsx } from './open-xlsx.ts'
import { formatColumn, type Row, type Sheet, type Workbook } from './workbook.ts'

/** The text of a large sheet is never in memory as a whole. */
const MIN_PART_LENGTH = 1024 * 1024

export const readXlsx = (archive: ZipArchive): ParsedDocument => readWorkbook(openXlsx(archive))

export const readOds = (archive: ZipArchive): ParsedDocument => readWorkbook(openOds(archive))

function readWorkbook({ sheets, title, describeUnread }: Workbook): ParsedDocument {
  // Read now, so that a damaged workbook fails before any of its passages are stored.
  const parts = generateParts(sheets)
  const first = parts.next()
  const rest = function* (): Generator<DocumentPart> {
    const again = generateParts(sheets)
    again.next()
    yield* again
  }
  const { text, pages } = first.done ? { text: '', pages: [] } : first.value
  const names = sheets.map(({ name, isHidden }) => (isHidden ? `${name} (hidden)` : name))
  return { text, pages, format: 'table', title, places: { kind: 'sheet', names }, notice: describeUnread() || undefined, rest }
}

/** A part belongs to one sheet, so that no passage is from two. */
function* generateParts(sheets: readonly Sheet[]): Generator<DocumentPart> {
  for (const [index, sheet] of sheets.entries()) {
    const all = formatSheet(findTables(sheet.readRows()), sheet.comments)
    for (const paragraphs of splitByWeight(all, MIN_PART_LENGTH, ({ length }) => length))
      yield { text: cleanText(paragraphs.join('\n\n')), pages: [{ number: index + 1, start: 0 }] }
  }
}

/** Yields a paragraph for every title, note and row. */
function* formatSheet(events: Iterable<SheetEvent>, comments: Sheet['comments']): Generator<string> {
  let names: ReadonlyMap<number, string> = new Map()
  for (const event of events) {
    const { row } = event
    if (event.kind === 'header') names = event.names
    const notes = comments.size > 0 ? formatComments(row, names, comments) : []
    if (event.kind === 'header') {
      if (notes.length > 0) yield notes.join('\n')
    } else yield [event.kind === 'row' && names.size > 0 ? formatRecord(row, names) : formatLine(row), ...notes].join('\n')
  }
}

function formatRecord({ cells }: Row, names: ReadonlyMap<number, string>): string {
  let record = ''
  for (const { column, text } of cells) {
    const name = names.get(column)
    record += `${record === '' ? '' : '\n'}${name === undefined ? text : `${name}: ${text}`}`
  }
  return record
}

function formatLine({ cells }: Row): string {
  const texts = cells.filter(({ isRepeated }) => !isRepeated).map(({ text }) => text)
  const [label = '', ...values] = texts
  return label.endsWith(':') ? `${label} ${values.join(' | ')}`.trim() : texts.join(' | ')
}

function formatComments({ number, cells }: Row, names: ReadonlyMap<number, string>, comments: Sheet['comments']): string[] {
  return cells.flatMap(({ column, isRepeated }) => {
    const comment = isRepeated ? undefined : comments.get(`${number}:${column}`)
    return comment === undefined ? [] : [`Comment on ${names.get(column) ?? `${formatColumn(column)}${number}`}: ${comment}`]
  })
}
