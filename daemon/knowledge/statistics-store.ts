/** Counts the documents, passages and skipped files of a knowledge source. */
import type { Static } from 'typebox'
import type { SourceStatistics } from '../../src/contract/families/knowledge-sources.ts'
import type { DatabaseReader } from '../store/database.ts'

type Statistics = Static<typeof SourceStatistics>

export async function getStatistics(reader: DatabaseReader, sourceId: string): Promise<Statistics> {
  const sums = await reader.get<Omit<Statistics, 'skipped_types'>>(
    `SELECT coalesce(sum(status <> 'skipped'), 0) AS documents, coalesce(sum(chunks), 0) AS chunks,
       coalesce(sum(status = 'failed'), 0) AS failed, coalesce(sum(status = 'skipped'), 0) AS skipped,
       coalesce(sum(status = 'recognizing'), 0) AS recognizing,
       coalesce(sum(CASE WHEN status = 'indexed' THEN chunks ELSE 0 END), 0) AS embedded
     FROM documents WHERE knowledge_source_id = ?`,
    [sourceId],
  )
  const { documents = 0, chunks = 0, failed = 0, skipped = 0, embedded = 0, recognizing = 0 } = sums ?? {}
  const skipped_types = skipped > 0 ? await countSkippedTypes(reader, sourceId) : {}
  return { documents, chunks, failed, skipped, skipped_types, embedded, recognizing }
}

/** Counts skipped files by type, the most frequent first. */
async function countSkippedTypes(reader: DatabaseReader, sourceId: string): Promise<Record<string, number>> {
  const rows = await reader.all<{ type: string; total: number }>(
    `SELECT type, count(*) AS total FROM documents WHERE knowledge_source_id = ? AND status = 'skipped'
     GROUP BY type ORDER BY total DESC, type`,
    [sourceId],
  )
  return Object.fromEntries(rows.map(({ type, total }) => [type, total]))
}
