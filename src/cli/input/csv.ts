/** Parses CSV files. */

const SEPARATORS = [',', ';', '\t'] as const
type Separator = (typeof SEPARATORS)[number]

/** Spreadsheets export semicolons in locales with a decimal comma, and copy tabs to the clipboard. */
export function detectSeparator(heading: string): Separator {
  const counts = SEPARATORS.map((separator) => heading.split(separator).length)
  return SEPARATORS[counts.indexOf(Math.max(...counts))] as Separator
}

/** Skips empty rows. Rows may have different lengths. */
export async function parseCsv(text: string, separator: Separator = ','): Promise<string[][]> {
  const { CsvError, parse } = await import('csv-parse/sync')
  try {
    const rows = parse(text, {
      delimiter: separator,
      bom: true,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n', '\r'],
    })
    return rows.filter((row) => row.length > 1 || row[0] !== '')
  } catch (error) {
    // csv-parse names the line at which it gave up, which is the last one for an unclosed quote.
    if (error instanceof CsvError) throw new SyntaxError(`Row ${Number(error.records) + 1} has an unmatched quote.`, { cause: error })
    throw error
  }
}
