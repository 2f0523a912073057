/** Validates the index settings and filters of RAG tools and retrieval tools. */
import { createValidationError } from '../../src/contract/errors.ts'
import { DEFAULT_EMBEDDING_MODEL } from '../../src/contract/schemas/passages.ts'
import type { ModelsService } from '../models/service.ts'
import type { DatabaseReader } from '../store/database.ts'
import type { Reference } from '../store/links.ts'
import type { IndexSettings } from './passage-indexes/index-store.ts'

/** Validates the chunking and returns the id of the embedding model. */
export async function validateChunking(reader: DatabaseReader, models: ModelsService, tool: IndexSettings): Promise<string> {
  if (tool.chunk_overlap >= tool.chunk_size)
    throw createValidationError('chunk_overlap', `must be less than chunk_size (${tool.chunk_size})`)
  if (tool.embedding_model === DEFAULT_EMBEDDING_MODEL) return DEFAULT_EMBEDDING_MODEL
  return models.resolve(reader, tool.embedding_model, 'embedding_model')
}

export function getEmbeddingReferences({ embedding_model }: IndexSettings): Reference[] {
  if (embedding_model === DEFAULT_EMBEDDING_MODEL) return []
  return [{ field: 'embedding_model', target: embedding_model, detach: { kind: 'value', value: DEFAULT_EMBEDDING_MODEL } }]
}

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

/** Validates filters and merges those under `metadata` with the others. A filter value is a scalar or a list of scalars. */
export function normalizeFilters({ metadata, ...others }: Record<string, unknown>): Record<string, unknown> {
  if (metadata === undefined) return validateFilters('filters', others)
  if (metadata === null || typeof metadata !== 'object' || Array.isArray(metadata))
    return validateFilters('filters', { ...others, metadata })
  return intersectFilters(validateFilters('filters', others), validateFilters('filters.metadata', metadata as Record<string, unknown>))
}

function validateFilters(where: string, filters: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(filters)) {
    const fits = isScalar(value) || (Array.isArray(value) && value.length > 0 && value.length <= 1_000 && value.every(isScalar))
    if (!fits) throw createValidationError(`${where}.${name}`, 'must be a string, number or boolean, or a list of them')
  }
  return filters
}

/** Combines filters: a field in both keeps only common values, so that a query never widens the filters of a tool. */
export function intersectFilters(first: Record<string, unknown>, second: Record<string, unknown>): Record<string, unknown> {
  const combined = { ...first, ...second }
  for (const name of Object.keys(first)) {
    if (!Object.hasOwn(second, name)) continue
    const allowed = [second[name]].flat()
    combined[name] = [first[name]].flat().filter((value) => allowed.includes(value))
  }
  return combined
}
