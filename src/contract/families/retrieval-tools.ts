/** Retrieval tools: search knowledge sources for passages. */
import { Type } from 'typebox'
import { createAction, createBody, createCrudRoutes, createFamily, updateBody } from '../crud.ts'
import { route } from '../route.ts'
import { expose_mcp } from '../schemas/exposure.ts'
import { createExample, flag, identifier, namedObject, nullable, optional, resource, resourceName, text } from '../schemas/fields.ts'
import { chunking, filters, query, rerank, SearchResult, searchMethod, top_k } from '../schemas/passages.ts'

const name = resourceName('retrieval tool')
const sourceIds = { maxItems: 100, uniqueItems: true, description: 'Knowledge sources to search.' }
const knowledge_source_ids = Type.Array(identifier('a knowledge source'), { minItems: 1, ...sourceIds })
const settings = {
  description: text('What the tool finds. Models read it to decide when to call the tool.', 10_000),
  search_method: searchMethod,
  top_k: { ...top_k, default: 5 } as typeof top_k,
  rerank: { ...rerank, default: false } as typeof rerank,
  score_threshold: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'Minimum score of a passage.' })),
  filters,
  ...chunking,
  expose_mcp,
}
const example = {
  name: 'find',
  description: 'Finds passages of the handbook',
  knowledge_source_ids: ['ks_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a'],
  search_method: 'hybrid',
  top_k: 5,
}

const fields = { name, ...settings, knowledge_source_ids: Type.Array(identifier('a knowledge source'), sourceIds) }
export const RetrievalTool = resource('retrieval tool', fields, {
  description: 'A tool that searches knowledge sources for passages.',
  examples: [createExample('ret', example, fields)],
})
export const RetrievalToolCreate = createBody('retrieval tool', { name, knowledge_source_ids }, settings, example)
export const RetrievalToolUpdate = updateBody('retrieval tool', { name, knowledge_source_ids, ...settings }, { search_method: 'semantic' })

export const retrievalTools = createFamily({
  name: 'retrieval-tools',
  noun: 'retrieval tool',
  prefix: 'ret',
  resource: RetrievalTool,
  create: RetrievalToolCreate,
  update: RetrievalToolUpdate,
})

export const retrievalToolRoutes = {
  ...createCrudRoutes(retrievalTools, { read: 'read', change: 'write' }),
  search: route({
    ...createAction(retrievalTools, 'search'),
    callsModel: true,
    callsExternalService: true,
    summary: 'Search with a retrieval tool',
    access: 'read',
    body: namedObject(
      'RetrievalToolSearch',
      'A search.',
      {
        query,
        ...optional({
          top_k,
          filters,
          rerank,
          explain: flag('Whether to return the ranks of each search method and the duration of each stage.', false),
        }),
      },
      [{ query: 'hotel price in Lisbon', explain: true }],
    ),
    response: SearchResult,
  }),
}
