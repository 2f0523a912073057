/** Embeds texts for clients; calls are metered as those of searches. */
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { EmbeddingCreate, EmbeddingList } from '../../src/contract/openai/embeddings.ts'
import type { Role } from '../../src/contract/route.ts'
import type { Caller } from '../core/caller.ts'
import { embedInTurns } from '../embedding/embed-in-turns.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { EmbeddingLedger } from '../knowledge/sync/embedding-ledger.ts'
import type { ModelsService } from '../models/service.ts'
import { estimateTokens } from '../models/token-estimate.ts'
import type { ModelDirectory } from './model-directory.ts'

interface EmbeddingsDependencies {
  directory: ModelDirectory
  models: ModelsService
  embedding: EmbeddingService
  ledger: EmbeddingLedger
}

/** Texts of a token that may wait at the same time. A request has up to 2,048. */
const MAX_WAITING_TEXTS: Record<Role, number> = { viewer: 4_096, member: 4_096, editor: 16_384, admin: 16_384 }

export class EmbeddingsService {
  readonly #dependencies: EmbeddingsDependencies
  /** Number of waiting texts by token. */
  readonly #waiting = new Map<string, number>()

  constructor(dependencies: EmbeddingsDependencies) {
    this.#dependencies = dependencies
  }

  async create(caller: Caller, body: EmbeddingCreate, signal: AbortSignal): Promise<EmbeddingList> {
    const { directory, models, embedding, ledger } = this.#dependencies
    const texts = readTexts(body)
    const { kind, id } = await directory.find(caller, body.model)
    if (kind === 'agent') throw createValidationError('model', 'agents have no embeddings', 'Use minilm or an embedding model.')
    await models.requireMaySpend(caller, id)
    const embedder = await embedding.getEmbedder(id).catch((error: unknown) => {
      throw error instanceof CadreError && error.code === 'VALIDATION_ERROR' ? nameModel(error) : error
    })
    if (body.dimensions != null) requireDimensions(body.dimensions, await embedder.getDimensions())
    const endWait = this.#beginWait(caller, texts.length)
    let tokens = 0
    const vectors = await ledger
      .record(
        embedder,
        texts,
        { user_id: caller.userId },
        (onUsage) => {
          const count = (used: number) => {
            tokens += used
            onUsage(used)
          }
          return embedInTurns(embedder, texts, { signal, caller: caller.tokenId, onUsage: count })
        },
        signal,
      )
      .finally(endWait)
    const prompt_tokens = tokens || texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    return {
      object: 'list',
      data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encodeVector(vector, body) })),
      model: body.model,
      usage: { prompt_tokens, total_tokens: prompt_tokens },
    }
  }

  #beginWait({ tokenId, role }: Caller, count: number): () => void {
    const waiting = this.#waiting.get(tokenId) ?? 0
    const limit = MAX_WAITING_TEXTS[role]
    if (waiting + count > limit)
      throw new CadreError('RATE_LIMITED', `${waiting} texts of this token wait to be embedded; at most ${limit} may.`, {
        hint: 'Send the next request when another one has ended.',
      })
    this.#waiting.set(tokenId, waiting + count)
    return () => {
      const left = (this.#waiting.get(tokenId) ?? 0) - count
      if (left > 0) this.#waiting.set(tokenId, left)
      else this.#waiting.delete(tokenId)
    }
  }
}

function readTexts({ input }: EmbeddingCreate): string[] {
  const texts: unknown[] = [input].flat()
  if (texts.every((text) => typeof text === 'string')) return texts
  throw createValidationError('input', 'arrays of tokens are not supported', 'Send the text itself.')
}

const nameModel = ({ message, hint }: CadreError) =>
  new CadreError('VALIDATION_ERROR', message, { hint, details: [{ field: 'model', problem: 'is not an embedding model' }] })

function requireDimensions(dimensions: number, actual: number): void {
  if (dimensions !== actual)
    throw createValidationError('dimensions', `the vectors of this model have ${actual} dimensions, which cannot be changed`)
}

function encodeVector(vector: Float32Array, { encoding_format }: EmbeddingCreate): number[] | string {
  if (encoding_format !== 'base64') return [...vector]
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, number] of vector.entries()) bytes.writeFloatLE(number, index * 4)
  return bytes.toString('base64')
}
