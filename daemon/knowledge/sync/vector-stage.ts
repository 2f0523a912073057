/** Embeds the passages whose text is there already. */
import type { EmbeddingService } from '../../embedding/service.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import { type Index, onlyUser } from '../indexes/index-store.ts'
import type { Indexes } from '../indexes/indexes.ts'
import type { Counted, EmbeddingLedger } from './embedding-ledger.ts'
import type { IndexWriter } from './index-writer.ts'
import type { ProgressBoard } from './progress.ts'
import { markIndexed, markReady, type PendingVectors, pendingVectors } from './sync-store.ts'

/** Passages a commit: what a kill can cost. */
const PASSAGES_A_COMMIT = 256

export interface VectorStage {
  database: Database
  indexes: Indexes
  writer: IndexWriter
  embedding: EmbeddingService
  ledger: EmbeddingLedger
  progress: ProgressBoard
}

export async function embedPassages(stage: VectorStage, sourceId: string, indexes: readonly Index[], signal: AbortSignal): Promise<void> {
  const { database, progress } = stage
  const indexIds = indexes.map(({ id }) => id)
  const waiting = await Promise.all(indexes.map((index) => pendingVectors(database, index.id)))
  const total = waiting.flat().reduce((sum, { chunks }) => sum + chunks, 0)
  progress.update(sourceId, { stage: 'embedding', chunks: 0, chunks_total: total })
  let done = 0
  for (const [at, index] of indexes.entries()) {
    const documents = waiting[at] as PendingVectors[]
    for (const batch of batches(documents)) {
      await embedBatch(stage, index, batch, signal, (embedded) => {
        done += embedded
        progress.count(sourceId, 'embedded', embedded)
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

function* batches(documents: readonly PendingVectors[]): Generator<PendingVectors[]> {
  let batch: PendingVectors[] = []
  let passages = 0
  for (const document of documents) {
    batch.push(document)
    passages += document.chunks
    if (passages < PASSAGES_A_COMMIT) continue
    yield batch
    batch = []
    passages = 0
  }
  if (batch.length > 0) yield batch
}

async function embedBatch(
  { database, indexes, writer, embedding, ledger }: VectorStage,
  index: Index,
  documents: readonly PendingVectors[],
  signal: AbortSignal,
  embedded: (count: number) => void,
): Promise<void> {
  const embedder = await embedding.embedder(index.embedding_model)
  const ids = documents.map(({ document_id }) => document_id)
  const passages = await indexes.text(index).where({ document_id: ids }, ['id', 'document_id', 'page', 'headings', 'content'])
  const rows = new Map<string, PassageRow[]>(ids.map((id) => [id, []]))
  const texts = passages.map(embeddedText)
  const embed = async (counted: Counted) => {
    for (let from = 0; from < passages.length; from += embedder.batch) {
      const part = passages.slice(from, from + embedder.batch)
      let told = 0
      const tell = (done: number) => {
        embedded(done - told)
        told = done
      }
      const vectors = await embedder.embed(texts.slice(from, from + embedder.batch), { signal, priority: 'index', progress: tell, counted })
      tell(part.length)
      part.forEach(({ id, document_id, page }, at) => {
        rows
          .get(document_id as string)
          ?.push({ id: id as string, document_id: document_id as string, page: page as number, vector: vectors[at] as Float32Array })
      })
    }
  }
  // An index that several tools share is nobody's alone, and so is what it costs.
  const tool = await onlyUser(database, index.id)
  if (texts.length > 0) await ledger.entered(embedder, texts, tool?.startsWith('rag_') ? { rag_tool_id: tool } : {}, embed, signal)
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
function embeddedText({ headings, content }: PassageRow): string {
  return headings === '' ? (content as string) : `${headings as string}\n${content as string}`
}
