/** Third stage of a sync: embeds passages and writes their vectors. */
import type { Embedder } from '../../embedding/embedder.ts'
import type { EmbeddingService } from '../../embedding/service.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import type { IndexRegistry } from '../passage-indexes/index-registry.ts'
import { countExpectedRows, findOnlyUser, type Index } from '../passage-indexes/index-store.ts'
import { splitByWeight } from '../split-by-weight.ts'
import type { EmbeddingLedger, OnUsage } from './embedding-ledger.ts'
import type { IndexWriter } from './index-writer.ts'
import type { ProgressTracker } from './progress-tracker.ts'
import { listPendingVectors, markIndexed, markReady, type PendingVectors } from './sync-store.ts'

/** A kill loses at most two batches: one that is being written, and one that is embedded meanwhile. A document is not divided. */
const PASSAGES_PER_COMMIT = 256
/** Passages of a large document that are in memory at a time; their usage is one entry in the ledger. */
const PASSAGES_PER_CALL = 1_024
const COLUMNS = ['id', 'document_id', 'page', 'headings', 'content']

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
  let written: Promise<void> = Promise.resolve()
  /** Resolves when the write begins: the next passages are embedded meanwhile. */
  const beginWrite: BeginWrite = async (write) => {
    await written
    written = write()
    written.catch(() => undefined) // the next write or the end reports it
  }
  for (const [position, index] of indexes.entries()) {
    const documents = pending[position] as PendingVectors[]
    try {
      for (const batch of splitByWeight(documents, PASSAGES_PER_COMMIT, ({ chunks }) => chunks)) {
        const documentIds = batch.map(({ document_id }) => document_id)
        const markBatch = () => markIndexed(database, documentIds, indexIds)
        await embedBatch(dependencies, index, batch, { signal, onEmbedded, beginWrite, markBatch })
      }
    } catch (error) {
      await written.catch(() => undefined) // the first error says what is wrong
      throw error
    }
    await written
    if (documents.length > 0) await dependencies.indexes.getVectorTable(index).optimize()
    await markReady(database, index.id)
  }
  await markIndexed(database, { sourceId }, indexIds)
  // Last, because it only makes searches faster.
  for (const index of indexes) {
    const { vectors } = await countExpectedRows(database, index.id)
    await dependencies.indexes.getVectorTable(index).updateVectorIndex(signal, vectors)
  }
}

type BeginWrite = (write: () => Promise<void>) => Promise<void>

interface EmbedBatchOptions extends Pick<EmbedTextsOptions, 'signal' | 'onEmbedded'> {
  beginWrite: BeginWrite
  /** Records that the vectors of the batch are written. */
  markBatch(): Promise<void>
}

async function embedBatch(
  { database, indexes, writer, embedding, ledger }: EmbedDependencies,
  index: Index,
  documents: readonly PendingVectors[],
  { signal, onEmbedded, beginWrite, markBatch }: EmbedBatchOptions,
): Promise<void> {
  const embedder = await embedding.getEmbedder(index.embedding_model)
  const ids = documents.map(({ document_id }) => document_id)
  // The cost of an index that several tools share is charged to none of them.
  const tool = await findOnlyUser(database, index.id)
  const origin = tool?.startsWith('rag_') ? { rag_tool_id: tool } : {}
  const batch = writer.open(
    index,
    'vectors',
    documents.map(({ document_id, content_hash }) => ({ documentId: document_id, contentHash: content_hash })),
  )
  const embed = async (passages: readonly PassageRow[]) => {
    const texts = passages.map(formatEmbeddingInput)
    const embedAll = (onUsage: OnUsage) => embedTexts(embedder, texts, { signal, onUsage, onEmbedded })
    const vectors = await ledger.record(embedder, texts, origin, embedAll, signal)
    signal.throwIfAborted()
    const rows = passages.map(({ id, document_id, page }, index) => ({ id, document_id, page, vector: vectors[index] }) as PassageRow)
    await beginWrite(() => batch.add(rows))
  }
  let pending: PassageRow[] = []
  for await (const passages of indexes.getTextTable(index).listInBatches({ document_id: ids }, COLUMNS)) {
    pending.push(...passages)
    if (pending.length < PASSAGES_PER_CALL) continue
    await embed(pending)
    pending = []
  }
  if (pending.length > 0) await embed(pending)
  signal.throwIfAborted()
  await beginWrite(async () => {
    await batch.finish()
    await markBatch()
  })
}

interface EmbedTextsOptions {
  signal: AbortSignal
  onUsage: OnUsage
  onEmbedded: (count: number) => void
}

async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  { signal, onUsage, onEmbedded }: EmbedTextsOptions,
): Promise<Float32Array[]> {
  const vectors: Float32Array[] = []
  for (let from = 0; from < texts.length; from += embedder.batchSize) {
    const inputs = texts.slice(from, from + embedder.batchSize)
    let reported = 0
    const onProgress = (count: number) => {
      onEmbedded(count - reported)
      reported = count
    }
    vectors.push(...(await embedder.embed(inputs, { signal, onProgress, onUsage })))
    onProgress(inputs.length)
  }
  return vectors
}

/** Embeds a passage together with its headings, which often name its subject. */
function formatEmbeddingInput({ headings, content }: PassageRow): string {
  return headings === '' ? (content as string) : `${headings as string}\n${content as string}`
}
