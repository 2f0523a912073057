/** How providers want to be asked for vectors, and how they answer. */
import { CadreError } from '../../src/contract/errors.ts'
import type { RemoteModel } from '../providers/remote-model.ts'

export interface ProtocolRequest {
  path: string
  headers: Record<string, string>
  body: object
  /** Vectors in the order of the texts, as far as the answer holds any; they are checked by whoever asked. */
  parse(reply: unknown): { vectors: unknown[]; tokens: number | undefined }
}

export interface EmbeddingProtocol {
  endpoint: string
  /** Requests at once: a provider's computers take several, the one under the desk is no faster for it. */
  concurrency: number
  createRequest(texts: readonly string[]): ProtocolRequest
}

const OPENAI = 'https://api.openai.com/v1'
const OLLAMA = 'http://127.0.0.1:11434/v1'
const GOOGLE = 'https://generativelanguage.googleapis.com/v1beta'
const HOSTED_AT_ONCE = 4

export function getEmbeddingProtocol(model: RemoteModel): EmbeddingProtocol {
  switch (model.provider) {
    case 'openai':
      return { endpoint: model.endpoint ?? OPENAI, concurrency: HOSTED_AT_ONCE, createRequest: (texts) => openai(model, texts) }
    case 'ollama':
      return {
        endpoint: model.endpoint === null ? OLLAMA : withVersion(model.endpoint),
        concurrency: 1,
        createRequest: (texts) => openai(model, texts),
      }
    case 'google':
      return { endpoint: model.endpoint ?? GOOGLE, concurrency: HOSTED_AT_ONCE, createRequest: (texts) => google(model, texts) }
    case 'openai-compatible':
      if (model.endpoint !== null) return { endpoint: model.endpoint, concurrency: 1, createRequest: (texts) => openai(model, texts) }
  }
  throw new CadreError(
    'VALIDATION_ERROR',
    `The provider ${model.provider} has no embeddings endpoint, so ${model.model_id} cannot be an embedding model.`,
    {
      hint: 'Use minilm, which is part of Cadre, or a model of openai, google, ollama or an openai-compatible server.',
    },
  )
}

/** People know Ollama by its bare address, as its own tools do. */
function withVersion(endpoint: string): string {
  const url = new URL(endpoint)
  if (url.pathname === '/') url.pathname = '/v1'
  return url.href
}

function openai({ model_id, api_key }: RemoteModel, texts: readonly string[]): ProtocolRequest {
  return {
    path: 'embeddings',
    headers: api_key === null ? {} : { authorization: `Bearer ${api_key}` },
    body: { model: model_id, input: texts, encoding_format: 'float' },
    parse(reply) {
      const { data, usage } = (reply ?? {}) as { data?: unknown; usage?: { total_tokens?: unknown; prompt_tokens?: unknown } }
      const items = Array.isArray(data) ? (data as { index?: unknown; embedding?: unknown }[]) : []
      // The protocol promises an index, not an order; some servers leave the index out and keep the order.
      const ordered = items.every((item) => typeof item?.index === 'number')
        ? [...items].sort((a, b) => Number(a.index) - Number(b.index))
        : items
      return { vectors: ordered.map((item) => item?.embedding), tokens: count(usage?.total_tokens ?? usage?.prompt_tokens) }
    },
  }
}

function google({ model_id, api_key }: RemoteModel, texts: readonly string[]): ProtocolRequest {
  const name = model_id.replace(/^models\//, '')
  return {
    path: `models/${encodeURIComponent(name)}:batchEmbedContents`,
    headers: api_key === null ? {} : { 'x-goog-api-key': api_key },
    body: { requests: texts.map((text) => ({ model: `models/${name}`, content: { parts: [{ text }] } })) },
    parse(reply) {
      const { embeddings, usageMetadata } = (reply ?? {}) as { embeddings?: unknown; usageMetadata?: { promptTokenCount?: unknown } }
      const items = Array.isArray(embeddings) ? (embeddings as { values?: unknown }[]) : []
      return { vectors: items.map((item) => item?.values), tokens: count(usageMetadata?.promptTokenCount) }
    },
  }
}

const count = (number: unknown): number | undefined => (typeof number === 'number' && number >= 0 ? number : undefined)
