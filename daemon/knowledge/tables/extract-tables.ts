/** Extracts the tables of a document: rows of CSV and JSON, and tables in text. */
import { detectFileKind, detectTextKind, isBinary } from '../readers/detect-file-kind.ts'
import { decodeText } from '../readers/encoding/decode-text.ts'
import { readRows } from '../readers/read-csv.ts'
import { readDocument } from '../readers/read-document.ts'
import { extractRecords, parseRecordLines } from './extract-records.ts'
import { extractSheets } from './extract-sheets.ts'
import type { ExtractedTable } from './extracted-table.ts'
import { findMarkdownTables } from './find-markdown-tables.ts'
import { findPdfTables } from './find-pdf-tables.ts'

/** Tables with fewer rows are not worth computing with. */
const MIN_ROWS = 2
const MIN_COLUMNS = 2

export async function extractTables(bytes: Uint8Array, name: string): Promise<ExtractedTable[]> {
  const tables = await readTables(bytes, name)
  return tables.filter(({ header, rowCount }) => header.length >= MIN_COLUMNS && rowCount >= MIN_ROWS)
}

async function readTables(bytes: Uint8Array, name: string): Promise<ExtractedTable[]> {
  const kind = detectFileKind(bytes)
  if (kind === 'pdf') {
    // Loaded on demand: the PDF library is large. It detaches the bytes.
    const { readPdfContent } = await import('../readers/pdf/read-tables.ts')
    return findPdfTables(readPdfContent(Uint8Array.from(bytes)))
  }
  if (kind === 'zip') {
    const sheets = extractSheets(bytes)
    if (sheets) return sheets
  }
  if (kind === 'text') {
    const text = decodeText(bytes)
    if (isBinary(text)) return []
    switch (detectTextKind(text, name)) {
      case 'table':
        return [readRows(text, name)].flatMap((table) => (table ? [{ caption: '', ...table }] : []))
      case 'json':
        return extractRecords(text)
      case 'lines':
        return parseRecordLines(text)
      case 'code':
      case 'config':
      case 'plain':
        return []
      case 'markdown':
        // Most documents have no table; reading them would take longer than the search for its mark.
        if (!text.includes('|')) return []
    }
  }
  const { text, format } = await readDocument(bytes, name)
  return format === 'markdown' ? findMarkdownTables(text) : []
}
