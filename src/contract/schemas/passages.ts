/** Passages of documents: chunking settings, filters and search results. */
import { type Static, Type } from 'typebox'
import { confidence } from './confidence.ts'
import { currency } from './currency.ts'
import {
  count,
  flag,
  identifier,
  integer,
  jsonObject,
  measure,
  namedObject,
  nonBlankText,
  nullable,
  optional,
  stringEnum,
} from './fields.ts'
import { Usage } from './usage.ts'

export const DEFAULT_EMBEDDING_MODEL = 'minilm'
export const DEFAULT_CHUNKING = { embedding_model: DEFAULT_EMBEDDING_MODEL, chunk_size: 800, chunk_overlap: 120 }

export const filters = jsonObject(
  'Filters by source, document_id, page, type and metadata, with a value or a list of values. ' +
    'Metadata fields are given by name, or together as metadata.',
  {
    maxProperties: 50,
    examples: [{ source: 'leave.md' }],
  },
)
export const query = nonBlankText('Search query.', 10_000)
export const top_k = integer('Maximum number of passages.', { minimum: 1, maximum: 100 })
export const rerank = flag(
  'Whether the embedded reading model reads the best passages and reorders them by how well they answer the query.',
)

/** Embedding model and chunking of a tool. Tools with the same settings share an index. */
export const chunking = {
  embedding_model: Type.String({
    minLength: 1,
    maxLength: 200,
    default: DEFAULT_EMBEDDING_MODEL,
    description: 'Embedding model: minilm, which ships with Cadre, or a model with embeddings.',
  }),
  chunk_size: integer('Maximum length of a passage, in characters.', {
    minimum: 50,
    maximum: 20_000,
    default: DEFAULT_CHUNKING.chunk_size,
  }),
  chunk_overlap: integer('Overlap of consecutive passages, in characters; less than chunk_size.', {
    minimum: 0,
    maximum: 10_000,
    default: DEFAULT_CHUNKING.chunk_overlap,
  }),
}

const stage = Type.Record(Type.String(), Type.Number(), { description: 'Duration of each stage, in milliseconds.' })
const rank = Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Rank in the results of this search method, from 1.' })

export type PassageDescription = Static<typeof PassageDescription>
export const PassageDescription = namedObject('PassageDescription', 'Description of a knowledge source or folder.', {
  path: Type.String({ description: 'Name of the knowledge source, followed by the folder.' }),
  description: Type.String({ description: 'What its documents are about.' }),
})

export type Passage = Static<typeof Passage>
export const Passage = namedObject('Passage', 'A passage that was found.', {
  content: Type.String({ description: 'Text of the passage.' }),
  score: Type.Number({ description: 'Relevance; higher is better.' }),
  metadata: Type.Object(
    {
      source: Type.String({ description: 'Name of the document.' }),
      page: integer('Page of the passage, from 1.', { minimum: 1 }),
      place: Type.Optional(Type.String({ description: 'Place of the passage if it is not a page, such as `slide 3` or `sheet Budget`.' })),
      document_id: Type.Optional(identifier('the document')),
    },
    { title: 'PassageMetadata', additionalProperties: true, description: 'Origin and metadata of the passage.' },
  ),
  ...optional({
    descriptions: Type.Array(PassageDescription, {
      description: 'Descriptions of the knowledge source and of the folders that contain the document, outermost first.',
    }),
    loose: flag(
      'Present if the passage is only loosely related: it contains no word of the query and its semantic similarity is low (minilm).',
    ),
    stale: flag('Present if the document was changed or deleted after it was indexed.'),
    explain: namedObject('PassageScores', 'Explanation of the score.', {
      semantic_rank: rank,
      full_text_rank: rank,
      fused_score: Type.Number({ description: 'Score of the search, before reranking.' }),
      rerank_score: nullable(
        Type.Number({
          description: 'How well the passage answers the query according to the reading model, from 0 to 1; null if not reranked.',
        }),
      ),
    }),
  }),
})

export const searchMethod = stringEnum(['semantic', 'full_text', 'hybrid'], {
  default: 'hybrid',
  description: 'Search method: by meaning (semantic), by words (full_text) or both (hybrid).',
})

export const SearchResult = namedObject('SearchResult', 'Passages of a search.', {
  query: Type.String({ description: 'Query of the request.' }),
  results: Type.Array(Passage, { description: 'Passages, best first.' }),
  ...optional({ timings: stage }),
})

const cell = Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'] })

export const Computation = namedObject('Computation', 'How an answer was computed from a table.', {
  sql: Type.String({ description: 'SQL that was run.' }),
  table: Type.String({ description: 'Name of the SQL table.' }),
  document: Type.String({ description: 'Document that contains the table.' }),
  interpretation: Type.String({ description: 'What the query does, in plain words.' }),
  rows: Type.Array(Type.Array(cell), { description: 'Result of the query.' }),
  rows_used: namedObject('ComputationRows', 'Rows of the document from which the result was computed.', {
    count: count('Number of rows from which the result was computed.'),
    columns: Type.Array(Type.String(), { description: 'Columns of the table.' }),
    first: Type.Array(
      namedObject('ComputationRow', 'A row of a table.', {
        row: integer('Number of the row in the table, from 1, without the header.', { minimum: 1 }),
        cells: Type.Array(cell, { description: 'Cells as they are in the document.' }),
      }),
      { description: 'First of these rows.' },
    ),
  }),
})

export type QueryResult = Static<typeof QueryResult>
export const QueryResult = namedObject(
  'QueryResult',
  'An answer and its passages.',
  {
    query: Type.String({ description: 'Query of the request.' }),
    results: Type.Array(Passage, { description: 'Passages, best first.' }),
    answer: Type.String({ description: 'Answer based on the passages, with citations such as [1].' }),
    usage: Usage,
    cost: measure('Cost of the answer, without that of embedding the query; null if the price is unknown.'),
    currency,
    ...optional({
      confidence,
      computation: Type.Array(Computation, {
        description: 'How the answer was computed from tables: one reading of the question, or several with different results.',
      }),
    }),
  },
  [
    {
      query: 'How many days of leave do I have?',
      results: [
        { content: 'Every employee gets twenty-five days of paid annual leave.', score: 0.91, metadata: { source: 'leave.md', page: 1 } },
      ],
      answer: 'Twenty-five days [1].',
      usage: { input_tokens: 210, output_tokens: 12, total_tokens: 222 },
      cost: 0.0004,
      currency: 'USD',
    },
  ],
)
