/** Embeds the passages whose text is there already. */
import type { EmbeddingService } from '../../embedding/service.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import type { IndexRegistry } from '../indexes/index-registry.ts'
import { findOnlyUser, type Index } from '../indexes/index-store.ts'
import type { CountTokens, EmbeddingLedger } from './embedding-ledger.ts'
import type { IndexWriter } from './index-writer.ts'
import type { ProgressTracker } from './progress-tracker.ts'
import { listPendingVectors, markIndexed, markReady, type PendingVectors } from './sync-store.ts'

/** Passages a commit: what a kill can cost. */
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
  stage: EmbedDependencies,
  sourceId: string,
  indexes: readonly Index[],
  signal: AbortSignal,
): Promise<void> {
  const { database, progress } = stage
  const indexIds = indexes.map(({ id }) => id)
  const waiting = await Promise.all(indexes.map((index) => listPendingVectors(database, index.id)))
  const total = waiting.flat().reduce((sum, { chunks }) => sum + chunks, 0)
  progress.update(sourceId, { stage: 'embedding', chunks: 0, chunks_total: total })
  let done = 0
  for (const [at, index] of indexes.entries()) {
    const documents = waiting[at] as PendingVectors[]
    for (const batch of splitIntoBatches(documents)) {
      await embedBatch(stage, index, batch, signal, (embedded) => {
        done += embedded
        progress.countChange(sourceId, 'embedded', embedded)
        progress.update(sourceId, { chunks: done })
      })
      const documentIds = batch.map(({ document_id }) => document_id)
      await markIndexed(database, documentIds, indexIds)
    }
    if (documents.length > 0) await stage.indexes.vectors(index).tidy()
    await markReady(database, index.id)
  }
  await markIndexed(database, { of: sourceId }, indexIds)
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
  embedded: (count: number) => void,
): Promise<void> {
  const embedder = await embedding.getEmbedder(index.embedding_model)
  const ids = documents.map(({ document_id }) => document_id)
  const passages = await indexes.getTextTable(index).where({ document_id: ids }, ['id', 'document_id', 'page', 'headings', 'content'])
  const rows = new Map<string, PassageRow[]>(ids.map((id) => [id, []]))
  const texts = passages.map(formatEmbeddingInput)
  const embed = async (counted: CountTokens) => {
    for (let from = 0; from < passages.length; from += embedder.batchSize) {
      const part = passages.slice(from, from + embedder.batchSize)
      let told = 0
      const tell = (done: number) => {
        embedded(done - told)
        told = done
      }
      const vectors = await embedder.embed(texts.slice(from, from + embedder.batchSize), {
        signal,
        priority: 'index',
        onProgress: tell,
        onUsage: counted,
      })
      tell(part.length)
      part.forEach(({ id, document_id, page }, at) => {
        rows
          .get(document_id as string)
          ?.push({ id: id as string, document_id: document_id as string, page: page as number, vector: vectors[at] as Float32Array })
      })
    }
  }
  // An index that several tools share is nobody's alone, and so is what it costs.
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

/** A passage is embedded with the headings it stands under, which often hold its subject. */
function formatEmbeddingInput({ headings, content }: PassageRow): string {
  return headings === '' ? (content as string) : `${headings as string}\n${content as string}`
}
