/** Reads comma- or tab-separated values: each row becomes lines of "column: value". */
import { CsvError, type Options, parse } from 'csv-parse/sync'
import { cleanText, type DocumentPart, joinTexts, type ParsedDocument } from './parsed-document.ts'

const DELIMITERS = [',', ';', '\t', '|']

/** Larger tables are read in parts: their text, in which each row repeats the header, is never in memory as a whole. */
const MIN_PART_BYTES = 1024 * 1024

interface Table {
  bytes: Buffer
  options: Options<string[]>
  /** Where parts end, between two rows. */
  partEnds: number[]
  header: string[] | undefined
  isFirstRowHeader: boolean
  /** With the header. */
  rowCount: number
}

export function readTable(source: string, name: string): ParsedDocument {
  const { comments, table } = openTable(source, name)
  const rest = table.partEnds.length > 1 ? { rest: () => formatRest(table) } : {}
  return { text: joinTexts([cleanText(comments.trim()), formatPart(table, 0)], '\n\n'), format: 'table', pages: [], title: null, ...rest }
}

function openTable(source: string, name: string): { comments: string; table: Table } {
  const text = source.replaceAll(/\r\n?/g, '\n')
  const comments = findComments(text)
  const content = text.slice(comments.length)
  const delimiter = /\.(?:tsv|tab)(?:\.txt)?$/i.test(name) ? '\t' : detectDelimiter(content)
  const lastComment = comments.trimEnd().split('\n').at(-1)?.replace(/^#\s*/, '').split(delimiter) ?? []
  return { comments, table: scanTable(Buffer.from(content), delimiter, lastComment) }
}

/** Returns the columns and rows; undefined if the columns have no names. */
export function readRows(
  source: string,
  name: string,
): { header: readonly string[]; rowCount: number; forEachRow(add: (row: readonly string[]) => void): void } | undefined {
  const { bytes, options, partEnds, header, isFirstRowHeader, rowCount } = openTable(source, name).table
  if (!header) return undefined
  return {
    header,
    rowCount: isFirstRowHeader ? rowCount - 1 : rowCount,
    forEachRow(add) {
      let isHeaderRow = isFirstRowHeader
      for (const [part, end] of partEnds.entries())
        for (const cells of parse(bytes.subarray(partEnds[part - 1] ?? 0, end), options)) {
          const row = trimRow(cells)
          if (row && !isHeaderRow) add(row)
          if (row) isHeaderRow = false
        }
    },
  }
}

/** Returns the comments above the rows, as tables of time zones and genomes have them. The last one may be the header. */
function findComments(text: string): string {
  let end = 0
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const next = newline < 0 ? text.length : newline + 1
    if (text[start] === '#') end = next
    else if (text.slice(start, next).trim() !== '') return text.slice(0, end)
    start = next
  }
  // Rows that all start with the mark, such as colours, are no comments.
  return ''
}

/** Finds the header and the ends of parts. Malformed quotes never make a table unreadable: they are read as ordinary characters. */
function scanTable(bytes: Buffer, delimiter: string, lastComment: readonly string[]): Table {
  const scan = (variant: Options<string[]>): Table => {
    // Without `record_delimiter`, detecting it takes ten times as long on a file with a single line.
    const options: Options<string[]> = { delimiter, record_delimiter: '\n', relax_quotes: true, relax_column_count: true, ...variant }
    const partEnds: number[] = []
    let [firstRow, rowCount, longestRow, isPartEmpty]: [string[], number, number, boolean] = [[], 0, 0, true]
    parse(bytes, {
      ...options,
      on_record(cells: string[], { bytes: end }) {
        const row = trimRow(cells)
        if (row) {
          if (rowCount++ === 0) firstRow = row
          longestRow = Math.max(longestRow, row.length)
          isPartEmpty = false
        }
        if (!isPartEmpty && end - (partEnds.at(-1) ?? 0) >= MIN_PART_BYTES) {
          partEnds.push(end)
          isPartEmpty = true
        }
        return null // rows are not kept
      },
    })
    if (partEnds.length === 0 || !isPartEmpty) partEnds.push(bytes.length)
    const hasHeaderComment = lastComment.length > 1 && longestRow <= lastComment.length
    const isFirstRowHeader = !hasHeaderComment && rowCount > 1 && isHeader(firstRow)
    const header = hasHeaderComment ? lastComment.map((cell) => cell.trim()) : isFirstRowHeader ? firstRow : undefined
    return { bytes, options, partEnds, header, isFirstRowHeader, rowCount }
  }
  for (const variant of [{ trim: true }, {}]) {
    try {
      return scan(variant)
    } catch (error) {
      if (!(error instanceof CsvError)) throw error
    }
  }
  return scan({ quote: null })
}

/** Returns undefined for a row without content. */
function trimRow(cells: readonly string[]): string[] | undefined {
  const row = cells.map((cell) => cell.trim())
  return row.some((cell) => cell !== '') ? row : undefined
}

function formatPart({ bytes, options, partEnds, header, isFirstRowHeader }: Table, part: number): string {
  const slice = bytes.subarray(partEnds[part - 1] ?? 0, partEnds[part])
  const rows = parse(slice, options).flatMap((cells) => {
    const row = trimRow(cells)
    return row ? [row] : []
  })
  if (part === 0 && isFirstRowHeader) rows.shift()
  return cleanText(rows.map((row) => (header ? formatRecord(header, row) : joinTexts(row, ' | '))).join('\n\n'))
}

function* formatRest(table: Table): Generator<DocumentPart> {
  for (let part = 1; part < table.partEnds.length; part++) yield { text: formatPart(table, part), pages: [] }
}

/** Returns the character that splits the first lines most evenly. */
function detectDelimiter(source: string): string {
  const lines = source
    .slice(0, 64 * 1024)
    .split(/\r\n?|\n/, 20)
    .filter((line) => line.trim() !== '')
  const getScore = (delimiter: string) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    return Math.min(...counts) * 10 + (counts[0] ?? 0)
  }
  return DELIMITERS.map((delimiter) => ({ delimiter, score: getScore(delimiter) })).sort((a, b) => b.score - a.score)[0]?.delimiter ?? ','
}

/** A header consists of distinct, short cells that are not numbers. */
function isHeader(row: string[]): boolean {
  const names = row.filter((cell) => cell !== '')
  return (
    names.length > 0 &&
    new Set(names).size === names.length &&
    names.every((cell) => cell.length <= 100 && !/^[\d\s.,:%$€£+-]+$/.test(cell))
  )
}

function formatRecord(header: string[], row: string[]): string {
  return row.flatMap((cell, index) => (cell === '' ? [] : [header[index] ? `${header[index]}: ${cell}` : cell])).join('\n')
}
