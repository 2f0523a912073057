/** Embeddings protocols of the providers. */
import { CadreError } from '../../src/contract/errors.ts'
import { resolveEndpoint } from '../models/providers/endpoints.ts'
import type { RemoteModel } from '../models/providers/remote-model.ts'

interface ProtocolRequest {
  path: string
  headers: Record<string, string>
  body: object
  /** Returns the vectors in the order of the texts. They are not validated yet. */
  parse(response: unknown): { vectors: unknown[]; tokens: number | undefined }
}

export interface EmbeddingProtocol {
  endpoint: string
  /** Number of concurrent requests. A local server does not get faster with more than one. */
  concurrency: number
  createRequest(texts: readonly string[]): ProtocolRequest
}

const HOSTED_CONCURRENCY = 4

export function getEmbeddingProtocol(model: RemoteModel): EmbeddingProtocol {
  const { provider, model_id } = model
  const isHosted = provider === 'openai' || provider === 'google'
  if (!isHosted && provider !== 'ollama' && provider !== 'openai-compatible')
    throw new CadreError(
      'VALIDATION_ERROR',
      `${model_id} cannot be an embedding model: the provider ${provider} has no embeddings endpoint.`,
      {
        hint: 'Use the embedded model minilm, or a model of openai, google, ollama or an openai-compatible server.',
      },
    )
  const createRequest = provider === 'google' ? createGoogleRequest : createOpenaiRequest
  return {
    endpoint: resolveEndpoint(provider, model.endpoint),
    concurrency: isHosted ? HOSTED_CONCURRENCY : 1,
    createRequest: (texts) => createRequest(model, texts),
  }
}

function createOpenaiRequest({ model_id, api_key }: RemoteModel, texts: readonly string[]): ProtocolRequest {
  return {
    path: 'embeddings',
    headers: api_key === null ? {} : { authorization: `Bearer ${api_key}` },
    body: { model: model_id, input: texts, encoding_format: 'float' },
    parse(response) {
      const { data, usage } = (response ?? {}) as { data?: unknown; usage?: { total_tokens?: unknown; prompt_tokens?: unknown } }
      const items = Array.isArray(data) ? (data as { index?: unknown; embedding?: unknown }[]) : []
      // The protocol guarantees an index, not an order; some servers omit the index and keep the order.
      const ordered = items.every((item) => typeof item?.index === 'number')
        ? [...items].sort((a, b) => Number(a.index) - Number(b.index))
        : items
      return { vectors: ordered.map((item) => item?.embedding), tokens: parseCount(usage?.total_tokens ?? usage?.prompt_tokens) }
    },
  }
}

function createGoogleRequest({ model_id, api_key }: RemoteModel, texts: readonly string[]): ProtocolRequest {
  const name = model_id.replace(/^models\//, '')
  return {
    path: `models/${encodeURIComponent(name)}:batchEmbedContents`,
    headers: api_key === null ? {} : { 'x-goog-api-key': api_key },
    body: { requests: texts.map((text) => ({ model: `models/${name}`, content: { parts: [{ text }] } })) },
    parse(response) {
      const { embeddings, usageMetadata } = (response ?? {}) as { embeddings?: unknown; usageMetadata?: { promptTokenCount?: unknown } }
      const items = Array.isArray(embeddings) ? (embeddings as { values?: unknown }[]) : []
      return { vectors: items.map((item) => item?.values), tokens: parseCount(usageMetadata?.promptTokenCount) }
    },
  }
}

const parseCount = (value: unknown): number | undefined => (typeof value === 'number' && value >= 0 ? value : undefined)
