/** Creates the passage that a computed answer cites: the rows of the document from which it was computed. */
import type { Computation } from '../tables/computation.ts'
import type { RetrievedPassage } from './tool.ts'

const MAX_LENGTH = 4_000

export function createComputationPassage(computation: Computation): RetrievedPassage {
  const { document, documentId, contentHash, header, rowsUsed, rowCount } = computation
  const rows = rowsUsed.map(([row, ...cells]) => {
    const named = cells.flatMap((cell, index) => (cell === null ? [] : [`${header[index]}: ${cell}`]))
    return `Row ${row}: ${named.join(' | ')}`
  })
  const left = rowCount - rows.length
  const more = left > 0 ? [`… and ${left} more ${left === 1 ? 'row' : 'rows'}`] : []
  const metadata = { source: document, page: 1, place: describeRows(computation), document_id: documentId, content_hash: contentHash }
  return { content: [...rows, ...more].join('\n').slice(0, MAX_LENGTH), score: 1, metadata }
}

/** Returns "rows 2, 7 and 8", "rows 2, 7, 8, 9, 12 and 31 more" or "all 300 rows". */
function describeRows({ rowsUsed, rowCount, tableRowCount }: Computation): string {
  if (rowCount === 0) return 'no rows'
  if (rowCount > 1 && rowCount === tableRowCount) return `all ${rowCount} rows`
  const names = rowsUsed.map(([row]) => String(row))
  const parts = rowCount > names.length ? [...names, `${rowCount - names.length} more`] : names
  return parts.length === 1 ? `row ${parts[0]}` : `rows ${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
