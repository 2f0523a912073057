/** Third stage of a sync: embeds passages and writes their vectors. */
import type { EmbeddingService } from '../../embedding/service.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import type { IndexRegistry } from '../indexes/index-registry.ts'
import { findOnlyUser, type Index } from '../indexes/index-store.ts'
import type { EmbeddingLedger, OnUsage } from './embedding-ledger.ts'
import type { IndexWriter } from './index-writer.ts'
import type { ProgressTracker } from './progress-tracker.ts'
import { listPendingVectors, markIndexed, markReady, type PendingVectors } from './sync-store.ts'

/** A kill loses at most the passages of one commit. */
const PASSAGES_PER_COMMIT = 256

export interface EmbedDependencies {
  database: Database
  indexes: IndexRegistry
  writer: IndexWriter
  embedding: EmbeddingService
  ledger: EmbeddingLedger
  progress: ProgressTracker
}

export async function embedPassages(
  dependencies: EmbedDependencies,
  sourceId: string,
  indexes: readonly Index[],
  signal: AbortSignal,
): Promise<void> {
  const { database, progress } = dependencies
  const indexIds = indexes.map(({ id }) => id)
  const pending = await Promise.all(indexes.map((index) => listPendingVectors(database, index.id)))
  const total = pending.flat().reduce((sum, { chunks }) => sum + chunks, 0)
  progress.update(sourceId, { stage: 'embedding', chunks: 0, chunks_total: total })
  let done = 0
  const onEmbedded = (count: number) => {
    done += count
    progress.countChange(sourceId, 'embedded', count)
    progress.update(sourceId, { chunks: done })
  }
  for (const [position, index] of indexes.entries()) {
    const documents = pending[position] as PendingVectors[]
    for (const batch of splitIntoBatches(documents)) {
      await embedBatch(dependencies, index, batch, signal, onEmbedded)
      const documentIds = batch.map(({ document_id }) => document_id)
      await markIndexed(database, documentIds, indexIds)
    }
    if (documents.length > 0) await dependencies.indexes.getVectorTable(index).optimize()
    await markReady(database, index.id)
  }
  await markIndexed(database, { sourceId }, indexIds)
}

function* splitIntoBatches(documents: readonly PendingVectors[]): Generator<PendingVectors[]> {
  let batch: PendingVectors[] = []
  let passages = 0
  for (const document of documents) {
    batch.push(document)
    passages += document.chunks
    if (passages < PASSAGES_PER_COMMIT) continue
    yield batch
    batch = []
    passages = 0
  }
  if (batch.length > 0) yield batch
}

async function embedBatch(
  { database, indexes, writer, embedding, ledger }: EmbedDependencies,
  index: Index,
  documents: readonly PendingVectors[],
  signal: AbortSignal,
  onEmbedded: (count: number) => void,
): Promise<void> {
  const embedder = await embedding.getEmbedder(index.embedding_model)
  const ids = documents.map(({ document_id }) => document_id)
  const passages = await indexes.getTextTable(index).list({ document_id: ids }, ['id', 'document_id', 'page', 'headings', 'content'])
  const rows = new Map<string, PassageRow[]>(ids.map((id) => [id, []]))
  const texts = passages.map(formatEmbeddingInput)
  const embed = async (onUsage: OnUsage) => {
    for (let from = 0; from < passages.length; from += embedder.batchSize) {
      const batch = passages.slice(from, from + embedder.batchSize)
      let reported = 0
      const onProgress = (count: number) => {
        onEmbedded(count - reported)
        reported = count
      }
      const inputs = texts.slice(from, from + embedder.batchSize)
      const vectors = await embedder.embed(inputs, { signal, priority: 'index', onProgress, onUsage })
      onProgress(batch.length)
      for (const [position, { id, document_id, page }] of batch.entries())
        rows.get(document_id as string)?.push({ id, document_id, page, vector: vectors[position] } as PassageRow)
    }
  }
  // The cost of an index that several tools share is charged to none of them.
  const tool = await findOnlyUser(database, index.id)
  if (texts.length > 0) await ledger.record(embedder, texts, tool?.startsWith('rag_') ? { rag_tool_id: tool } : {}, embed, signal)
  signal.throwIfAborted()
  await writer.write(
    index,
    'vectors',
    documents.map(({ document_id, content_hash }) => ({
      documentId: document_id,
      contentHash: content_hash,
      rows: rows.get(document_id) ?? [],
    })),
  )
}

/** Embeds a passage together with its headings, which often name its subject. */
function formatEmbeddingInput({ headings, content }: PassageRow): string {
  return headings === '' ? (content as string) : `${headings as string}\n${content as string}`
}
