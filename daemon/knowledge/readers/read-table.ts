/** Reads comma- or tab-separated values: each row becomes lines of "column: value". */
import { CsvError, parse } from 'csv-parse/sync'
import { cleanText, type ParsedDocument } from './parsed-document.ts'

const DELIMITERS = [',', ';', '\t', '|']

export function readTable(source: string, name: string): ParsedDocument {
  const text = source.replaceAll(/\r\n?/g, '\n')
  const comments = findComments(text)
  const content = text.slice(comments.length)
  const delimiter = /\.(?:tsv|tab)(?:\.txt)?$/i.test(name) ? '\t' : detectDelimiter(content)
  const rows = parseRows(content, delimiter)
  const lastComment = comments.trimEnd().split('\n').at(-1)?.replace(/^#\s*/, '').split(delimiter) ?? []
  const hasHeaderComment = lastComment.length > 1 && rows.every(({ length }) => length <= lastComment.length)
  const header = hasHeaderComment
    ? lastComment.map((cell) => cell.trim())
    : rows.length > 1 && isHeader(rows[0] ?? [])
      ? rows.shift()
      : undefined
  const records = header ? rows.map((row) => formatRecord(header, row)) : rows.map((row) => row.filter((cell) => cell !== '').join(' | '))
  const paragraphs = [comments.trim(), ...records].filter((paragraph) => paragraph !== '')
  return { text: cleanText(paragraphs.join('\n\n')), format: 'table', pages: [], title: null }
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
