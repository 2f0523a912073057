/** Passages found in documents: what RAG queries and searches answer with, and how they are filtered. */
import { Type } from 'typebox'
import { identifier, jsonObject, object, optional, stringEnum } from './fields.ts'

export const DEFAULT_EMBEDDING_MODEL = 'minilm'
export const DEFAULT_CHUNKING = { embedding_model: DEFAULT_EMBEDDING_MODEL, chunk_size: 800, chunk_overlap: 120 }

export const filters = jsonObject(
  'Only passages whose source, document_id, page, type or metadata equal these values, or are in these lists; fields of the metadata by their names, or together as metadata.',
  {
    maxProperties: 50,
    examples: [{ source: 'leave.md' }],
  },
)
export const query = Type.String({ minLength: 1, maxLength: 10_000, pattern: '\\S', description: 'What to look for.' })
export const top_k = Type.Integer({ minimum: 1, maximum: 100, description: 'Most passages that come back.' })

/** How documents are cut and embedded for a tool; tools that agree share an index. */
export const chunking = {
  embedding_model: Type.String({
    minLength: 1,
    maxLength: 200,
    default: DEFAULT_EMBEDDING_MODEL,
    description: 'minilm, which every installation has, or a model that can embed.',
  }),
  chunk_size: Type.Integer({
    minimum: 50,
    maximum: 20_000,
    default: DEFAULT_CHUNKING.chunk_size,
    description: 'Longest passage, in characters.',
  }),
  chunk_overlap: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: DEFAULT_CHUNKING.chunk_overlap,
    description: 'Characters a passage shares with the one before; less than chunk_size.',
  }),
}

const stage = Type.Record(Type.String(), Type.Number(), { description: 'Milliseconds a stage took.' })
const rank = Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Place among the passages of that side, from 1.' })

export const Passage = object({
  content: Type.String({ description: 'The passage.' }),
  score: Type.Number({ description: 'How well it fits; higher is better.' }),
  metadata: Type.Object(
    {
      source: Type.String({ description: 'Name of the document.' }),
      page: Type.Integer({ minimum: 1, description: 'Page it is on, from 1.' }),
      document_id: Type.Optional(identifier('the document')),
    },
    { additionalProperties: true, description: 'Where it comes from.' },
  ),
  loose: Type.Optional(
    Type.Boolean({
      description: 'Given where it is only loosely related: no word of the query is in it, and by meaning it is far away (minilm).',
    }),
  ),
  explain: Type.Optional(
    object(
      { semantic_rank: rank, full_text_rank: rank, fused_score: Type.Number({ description: 'Score after both sides were joined.' }) },
      { description: 'How its score came about.' },
    ),
  ),
})

export const searchMethod = stringEnum(['semantic', 'full_text', 'hybrid'], {
  default: 'hybrid',
  description: 'By meaning, by words, or by both.',
})

export const SearchResult = object({
  query: Type.String({ description: 'The query, as it was sent.' }),
  results: Type.Array(Passage, { description: 'Passages, best first.' }),
  ...optional({ timings: stage }),
})

export const QueryResult = object(
  {
    query: Type.String({ description: 'The query, as it was sent.' }),
    results: Type.Array(Passage, { description: 'Passages, best first.' }),
    answer: Type.String({ description: 'An answer written from the passages, citing them as [1].' }),
  },
  {
    examples: [
      {
        query: 'How many days of leave do I have?',
        results: [
          { content: 'Every employee gets twenty-five days of paid annual leave.', score: 0.91, metadata: { source: 'leave.md', page: 1 } },
        ],
        answer: 'Twenty-five days [1].',
      },
    ],
  },
)
