/** Fills a home with a source of any number of mixed passages, without parsing and embedding them. */
import { mkdirSync } from 'node:fs'
import { IndexRegistry } from '../../daemon/knowledge/passage-indexes/index-registry.ts'
import type { Index } from '../../daemon/knowledge/passage-indexes/index-store.ts'
import { tokenize } from '../../daemon/language/tokenize.ts'
import type { PassageRow } from '../../daemon/store/arrow.ts'
import { type Database, openDatabase } from '../../daemon/store/database.ts'
import { migrate } from '../../daemon/store/migrate.ts'
import { VectorStore } from '../../daemon/store/vector-store.ts'
import { homePaths } from '../../src/config.ts'
import { DEFAULT_CHUNKING } from '../../src/contract/schemas/passages.ts'
import type { MixedPassages } from './mixed-passages.ts'

export const PASSAGES_PER_DOCUMENT = 20
const PASSAGES_PER_COMMIT = 10_000
const PASSAGE_LENGTH = 800

export interface FilledHome {
  source: string
  index: Index
  /** Seconds that the full-text index took to build. */
  fullTextSeconds: number
}

/** The daemon builds the vector index when it is started. */
export async function fillHome(home: string, count: number, passages: MixedPassages): Promise<FilledHome> {
  mkdirSync(home, { mode: 0o700 })
  const paths = homePaths({ CADRE_HOME: home })
  const database = openDatabase(paths.database)
  await migrate(database)
  const vectors = new VectorStore(paths.vectors)
  const indexes = new IndexRegistry(vectors)
  try {
    const index = await insertRecords(database, indexes, count)
    const [text, vector] = [indexes.getTextTable(index), indexes.getVectorTable(index)]
    for (let from = 0; from < count; from += PASSAGES_PER_COMMIT) {
      const rows = createRows(from, Math.min(count, from + PASSAGES_PER_COMMIT), passages)
      await text.add(rows)
      await vector.add(rows)
    }
    const startedAt = performance.now()
    await text.optimize()
    const fullTextSeconds = (performance.now() - startedAt) / 1000
    await vector.optimize()
    return { source: index.knowledge_source_id, index, fullTextSeconds }
  } finally {
    await vectors.close()
    await database.close()
  }
}

/** Half of the documents have their passages on page 1, the others on page 2. */
export function createRows(from: number, to: number, passages: MixedPassages): PassageRow[] {
  return Array.from({ length: to - from }, (_, offset) => {
    const [document, position] = [Math.floor((from + offset) / PASSAGES_PER_DOCUMENT), (from + offset) % PASSAGES_PER_DOCUMENT]
    const { content, vector } = passages.next()
    return {
      id: `doc_${document}:${position}`,
      document_id: `doc_${document}`,
      generation: 1,
      page: 1 + (document % 2),
      position,
      start_at: position * PASSAGE_LENGTH,
      end_at: (position + 1) * PASSAGE_LENGTH,
      headings: '',
      content,
      words: tokenize(content),
      vector,
    }
  })
}

async function insertRecords(database: Database, indexes: IndexRegistry, count: number): Promise<Index> {
  const now = new Date().toISOString()
  return database.write(async (transaction) => {
    await transaction.run(
      `INSERT INTO knowledge_sources (id, name, name_key, type, status, configuration, created_at, updated_at)
      VALUES ('ks_scale', 'scale', 'scale', 'file', 'active', '{}', ?, ?)`,
      [now, now],
    )
    const index = await indexes.ensure(transaction, 'ks_scale', DEFAULT_CHUNKING)
    await transaction.run('UPDATE indexes SET ready = 1, generation = 1 WHERE id = ?', [index.id])
    for (let number = 0; number < count / PASSAGES_PER_DOCUMENT; number++) {
      const [id, hash] = [`doc_${number}`, String(number)]
      await transaction.run(
        `INSERT INTO documents (id, knowledge_source_id, name, type, size, content_hash, status, chunks, metadata, created_at, updated_at)
        VALUES (?, 'ks_scale', ?, 'md', 1, ?, 'indexed', ?, '{}', ?, ?)`,
        [id, `${number}.md`, hash, PASSAGES_PER_DOCUMENT, now, now],
      )
      await transaction.run('INSERT INTO index_documents (index_id, document_id, content_hash, chunks, embedded) VALUES (?, ?, ?, ?, 1)', [
        index.id,
        id,
        hash,
        PASSAGES_PER_DOCUMENT,
      ])
    }
    return { ...index, ready: 1 }
  })
}
