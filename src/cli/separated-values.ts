/** Reads CSV as RFC 4180 has it: quotes around what holds commas, line ends or quotes, which are then written twice. */

export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y
  cell.lastIndex = text.startsWith('\uFEFF') ? 1 : 0
  while (cell.lastIndex < text.length) {
    const from = cell.lastIndex
    const found = cell.exec(text)
    if (!found) throw new SyntaxError(`The quotes of line ${text.slice(0, from).split('\n').length} do not close.`)
    const [, quoted, plain = '', end] = found
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',' && cell.lastIndex === text.length) row.push('')
    if (end !== ',' || cell.lastIndex === text.length) {
      if (row.length > 1 || row[0] !== '') rows.push(row)
      row = []
    }
  }
  return rows
}
