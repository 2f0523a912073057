/** Reads comma- or tab-separated values: each row becomes lines of "column: value". */
import { CsvError, parse } from 'csv-parse/sync'
import { cleanText, type ParsedDocument } from './parsed-document.ts'

const DELIMITERS = [',', ';', '\t', '|']

export function readTable(source: string, name: string): ParsedDocument {
  const delimiter = name.toLowerCase().endsWith('.tsv') ? '\t' : detectDelimiter(source)
  const rows = parseRows(source.replaceAll(/\r\n?/g, '\n'), delimiter)
  const header = rows.length > 1 && rows[0] && isHeader(rows[0]) ? rows[0] : undefined
  const records = header
    ? rows.slice(1).map((row) => formatRecord(header, row))
    : rows.map((row) => row.filter((cell) => cell !== '').join(' | '))
  return { text: cleanText(records.filter((record) => record !== '').join('\n\n')), format: 'table', pages: [], title: null }
}

/** Returns the rows that are not empty. Malformed quotes never make a table unreadable: they are read as ordinary characters. */
function parseRows(source: string, delimiter: string): string[][] {
  const parseWith = (options: { trim?: boolean; quote?: null }) =>
    // Without `record_delimiter`, detecting it takes ten times as long on a file with a single line.
    parse(source, { delimiter, record_delimiter: '\n', relax_quotes: true, relax_column_count: true, ...options })
      .map((row) => row.map((cell) => cell.trim()))
      .filter((row) => row.some((cell) => cell !== ''))
  for (const options of [{ trim: true }, {}]) {
    try {
      return parseWith(options)
    } catch (error) {
      if (!(error instanceof CsvError)) throw error
    }
  }
  return parseWith({ quote: null })
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
