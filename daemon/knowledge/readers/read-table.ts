/** Reads tables of comma- or tab-separated values: every row becomes lines that name each value's column. */

import { parseRows } from './csv.ts'
import { cleanText, type ParsedDocument } from './parsed-document.ts'

const DELIMITERS = [',', ';', '\t', '|']

export function readTable(source: string, name: string): ParsedDocument {
  const delimiter = name.toLowerCase().endsWith('.tsv') ? '\t' : detectDelimiter(source)
  const rows = parseRows(source.replaceAll(/\r\n?/g, '\n'), delimiter)
  const header = rows[0] && isHeader(rows[0]) ? rows[0] : undefined
  const written =
    header && rows.length > 1
      ? rows.slice(1).map((row) => formatRecord(header, row))
      : rows.map((row) => row.filter((cell) => cell !== '').join(' | '))
  return { text: cleanText(written.filter((row) => row !== '').join('\n\n')), format: 'table', pages: [], title: null }
}

/** The character that divides the first lines most evenly. */
function detectDelimiter(source: string): string {
  const lines = source
    .slice(0, 64 * 1024)
    .split(/\r\n?|\n/, 20)
    .filter((line) => line.trim() !== '')
  const score = (delimiter: string) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    return Math.min(...counts) * 10 + (counts[0] ?? 0)
  }
  return DELIMITERS.map((delimiter) => ({ delimiter, score: score(delimiter) })).sort((a, b) => b.score - a.score)[0]?.delimiter ?? ','
}

/** A first row of different, short words without numbers names the columns. */
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
