/** A workbook as its readers provide it: sheets whose rows are read one after another. */
import { DocumentReadError } from '../parsed-document.ts'

export interface Cell {
  /** Number of the column, from 0. */
  column: number
  /** The value as a person sees it. */
  text: string
  /** The stored value. Dates are ISO 8601 text. */
  value: string | number | boolean
  isDate: boolean
  /** Whether the value is repeated from the first cell of merged cells, which is in the same row. */
  isRepeated: boolean
}

export interface Row {
  /** As the program numbers it, from 1. */
  number: number
  /** Cells with a value, in order. */
  cells: Cell[]
}

export interface Sheet {
  name: string
  isHidden: boolean
  /** Reads the rows that have values, in order. Can be called again. */
  readRows(): Iterable<Row>
  /** Comments by row and column: `12:3`. */
  comments: ReadonlyMap<string, string>
}

export interface Workbook {
  sheets: Sheet[]
  title: string | null
  /** Says what is not read, such as macros; complete after the rows were read. Empty if everything is. */
  describeUnread(): string
}

export const MAX_COLUMNS = 16_384
export const MAX_COMMENT_LENGTH = 2_000
const MAX_SHEETS = 1_000

export function requireSheetLimit(count: number): void {
  if (count > MAX_SHEETS) throw new DocumentReadError(`The workbook has ${count} sheets; the maximum is ${MAX_SHEETS}.`)
}

/** Returns the number of a column from its letters, from 0; -1 without letters. */
export function parseColumn(reference: string): number {
  let column = 0
  for (let index = 0; index < Math.min(reference.length, 4); index++) {
    const letter = (reference.charCodeAt(index) & 0xdf) - 0x40
    if (letter < 1 || letter > 26) break
    column = column * 26 + letter
  }
  return column - 1
}

export function formatColumn(column: number): string {
  const rest = Math.floor(column / 26)
  return (rest > 0 ? formatColumn(rest - 1) : '') + String.fromCharCode(0x41 + (column % 26))
}
