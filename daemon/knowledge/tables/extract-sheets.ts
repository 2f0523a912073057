/** Extracts the tables of spreadsheets. */
import { findTables } from '../readers/spreadsheets/find-tables.ts'
import { openOds } from '../readers/spreadsheets/open-ods.ts'
import { openXlsx } from '../readers/spreadsheets/open-xlsx.ts'
import type { Sheet } from '../readers/spreadsheets/workbook.ts'
import { ZipArchive } from '../readers/zip-archive.ts'
import type { ExtractedTable } from './extracted-table.ts'

/** Returns undefined if the archive is not a spreadsheet. */
export function extractSheets(bytes: Uint8Array): ExtractedTable[] | undefined {
  const archive = new ZipArchive(bytes)
  if (archive.isEncrypted) return undefined
  const isOds = archive.has('mimetype') && /opendocument\.spreadsheet/.test(archive.readText('mimetype'))
  const isXlsx = archive.names.some((name) => name.startsWith('xl/'))
  if (!isOds && !isXlsx) return undefined
  return (isOds ? openOds(archive) : openXlsx(archive)).sheets.flatMap(listTables)
}

/** A sheet has a table for each header in it. */
function listTables(sheet: Sheet): ExtractedTable[] {
  const tables: { columns: (readonly [number, string])[]; rowCount: number }[] = []
  for (const event of findTables(sheet.readRows())) {
    const last = tables.at(-1)
    if (event.kind === 'header') tables.push({ columns: [...event.names].sort(([a], [b]) => a - b), rowCount: 0 })
    else if (event.kind === 'row' && last) last.rowCount++
  }
  return tables.map(({ columns, rowCount }, position) => ({
    caption: sheet.name,
    header: columns.map(([, name]) => name),
    rowCount,
    forEachRow(add) {
      let current = -1
      for (const event of findTables(sheet.readRows())) {
        if (event.kind === 'header' && ++current > position) return
        if (event.kind !== 'row' || current !== position) continue
        // Dates are texts of ISO 8601 there; numbers have no format.
        const cells = new Map(event.row.cells.map(({ column, text, value, isDate }) => [column, isDate ? String(value) : text]))
        add(columns.map(([column]) => (cells.get(column) ?? '').trim()))
      }
    },
  }))
}
