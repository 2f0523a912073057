/** RAG tools: answer questions from a knowledge source. */
import type { Static } from 'typebox'
import { createAction, createBody, createCrudRoutes, createFamily, updateBody } from '../crud.ts'
import { route } from '../route.ts'
import { expose_mcp } from '../schemas/exposure.ts'
import { createExample, identifier, namedObject, nullable, optional, resource, resourceName, text } from '../schemas/fields.ts'
import { chunking, filters, QueryResult, query, rerank, top_k } from '../schemas/passages.ts'

const name = resourceName('RAG tool')
const settings = {
  description: text('What the tool knows. Models read it to decide when to call the tool.', 10_000),
  ...chunking,
  top_k: { ...top_k, default: 5 } as typeof top_k,
  rerank: { ...rerank, default: true } as typeof rerank,
  expose_mcp,
  model_id: nullable(
    identifier("the model that writes answers, its unique name or the provider's name for it; null uses the default model"),
  ),
}
const queryModel = identifier("the model that writes the answer, its unique name or the provider's name for it; default: the tool's model")
const knowledge_source_id = identifier('the knowledge source')
const example = {
  name: 'handbook',
  description: 'Searches the staff handbook',
  knowledge_source_id: 'ks_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  chunk_size: 800,
  chunk_overlap: 120,
  top_k: 5,
  rerank: true,
}

export type RagTool = Static<typeof RagTool>
export const RagTool = resource(
  'RAG tool',
  { name, ...settings, knowledge_source_id: nullable(knowledge_source_id) },
  {
    description: 'A tool that answers questions from a knowledge source.',
    examples: [createExample('rag', { ...example, embedding_model: 'minilm', expose_mcp: false, model_id: null })],
  },
)
export const RagToolCreate = createBody('RAG tool', { name, knowledge_source_id }, settings, example)
export const RagToolUpdate = updateBody('RAG tool', { name, knowledge_source_id, ...settings }, { top_k: 8 })

export const ragTools = createFamily({
  name: 'rag-tools',
  noun: 'RAG tool',
  prefix: 'rag',
  resource: RagTool,
  create: RagToolCreate,
  update: RagToolUpdate,
})

export const ragToolRoutes = {
  ...createCrudRoutes(ragTools, { read: 'read', change: 'write' }),
  query: route({
    ...createAction(ragTools, 'query'),
    callsModel: true,
    callsExternalService: true,
    summary: 'Query a RAG tool',
    access: 'read',
    body: namedObject('RAGToolQuery', 'A question.', { query, ...optional({ top_k, filters, rerank, model_id: queryModel }) }, [
      { query: 'How many days of leave do I have?' },
    ]),
    response: QueryResult,
  }),
}
