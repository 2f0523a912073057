/** Embeds the texts of a client so that neither queries nor other callers wait for them. */
import type { Embedder, EmbedOptions } from './embedder.ts'

const MAX_QUERY_TEXTS = 4

/** A few texts are embedded as queries are. More run behind queries, in small pieces, in turns with those of other callers. */
export async function embedInTurns(embedder: Embedder, texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
  if (texts.length <= MAX_QUERY_TEXTS) return embedder.embed(texts, { ...options, priority: 'high' })
  const vectors: Float32Array[] = []
  for (let at = 0; at < texts.length; at += embedder.batchSize)
    vectors.push(...(await embedder.embed(texts.slice(at, at + embedder.batchSize), { ...options, priority: 'normal' })))
  return vectors
}
