/** Reads CSV as RFC 4180 has it: quotes around what holds commas, line ends or quotes, which are then written twice. */

export const SEPARATORS = [',', ';', '\t'] as const
export type Separator = (typeof SEPARATORS)[number]

/** Spreadsheets separate by semicolon where the comma is in their numbers, and by tab when copied from. */
export function detectSeparator(head: string): Separator {
  const counted = SEPARATORS.map((separator) => head.split(separator).length)
  return SEPARATORS[counted.indexOf(Math.max(...counted))] as Separator
}

export function parseCsv(text: string, separator: Separator = ','): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|\\r|$)`, 'y')
  cell.lastIndex = text.startsWith('\uFEFF') ? 1 : 0
  while (cell.lastIndex < text.length) {
    const from = cell.lastIndex
    const found = cell.exec(text)
    if (!found) throw new SyntaxError(`The quotes of line ${text.slice(0, from).split('\n').length} do not close.`)
    const [, quoted, plain = '', end] = found
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === separator && cell.lastIndex === text.length) row.push('')
    if (end !== separator || cell.lastIndex === text.length) {
      if (row.length > 1 || row[0] !== '') rows.push(row)
      row = []
    }
  }
  return rows
}
