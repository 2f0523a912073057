/** A table with typed columns, as the parser of questions sees it. */

export type ColumnType = 'integer' | 'decimal' | 'percentage' | 'currency' | 'duration' | 'date' | 'boolean' | 'text'

/** How a cell is compared: by its text, its number or its date. */
export type Reading = 'text' | 'number' | 'date'

export interface Column {
  /** The header as it is in the document. */
  header: string
  type: ColumnType
  /** The unit of all numbers, such as "EUR" or "%". */
  unit: string
  /** Digits after the decimal point. */
  scale: number
  /** The SQL columns with each reading of the cells. Dates and numbers are there if most cells have one. */
  readings: Partial<Record<Reading, string>> & { text: string }
  hasEmptyCells?: true
  /** Whether its numbers are those of the rows of another table: "Job" beside jobs.csv. */
  isReference?: true
  /** The SQL that computes the numbers of a column that the document does not have. */
  expression?: string
  /** The words of the question that ask for it. */
  phrase?: string
}

/** A distinct value of a column. */
export interface CellValue {
  column: number
  text: string
  /** The stems of its words, and how many of them precede a remark in parentheses. */
  stems: string[]
  bareLength: number
}

export interface TypedTable {
  /** The name of the SQL table. */
  name: string
  /** The document and, where it has several, the sheet or caption. */
  title: string
  rowCount: number
  columns: Column[]
}

/** The rows of a data file are what its questions are about; a table in a text may be about anything. */
const DATA_FILE = /\.(?:csv|tsv|jsonl?|ndjson|xlsx|xlsm|xls|ods)\b/i
/** A text explains with short tables; a long one is data. */
const MIN_DATA_ROWS = 20
export const isDataFileName = (title: string): boolean => DATA_FILE.test(title)

export const isDataFile = ({ title, rowCount }: TypedTable): boolean => isDataFileName(title) || rowCount >= MIN_DATA_ROWS

export type SqlValue = string | number | null

export interface SqlColumn {
  name: string
  type: 'INTEGER' | 'REAL' | 'TEXT'
}

/** The parts of libSQL's database that are used here. */
export interface SqlDatabase {
  exec(sql: string): void
  prepare(sql: string): SqlStatement
}

export interface SqlStatement {
  run(values: readonly SqlValue[]): unknown
  /** Makes rows lists of values instead of objects. */
  raw(): SqlStatement
  all(values?: readonly SqlValue[]): unknown[]
  iterate(values?: readonly SqlValue[]): Iterable<unknown>
  columns(): { name: string }[]
}
