/** What an agent may use, and looking into its documents without the agent. */

import type { Static } from 'typebox'
import { call } from '../../client/call.ts'
import { ServiceError } from '../../client/errors.ts'
import type { Connection } from '../../client/request.ts'
import { apiToolRoutes } from '../../contract/families/api-tools.ts'
import { ragToolRoutes } from '../../contract/families/rag-tools.ts'
import { retrievalToolRoutes } from '../../contract/families/retrieval-tools.ts'
import type { Passage } from '../../contract/schemas/passages.ts'
import type { Citation } from '../state/reply-reducer.ts'

export interface AgentTool {
  id: string
  name: string
  description: string
  kind: 'RAG' | 'retrieval' | 'API'
  /** It asks before it is used. */
  requiresConfirmation: boolean
}

/** The tools behind identifiers; one that is gone or may not be seen is named by its identifier. */
export async function listTools(connection: Connection, ids: readonly string[]): Promise<AgentTool[]> {
  return Promise.all(ids.map((id) => fetchTool(connection, id)))
}

async function fetchTool(connection: Connection, id: string): Promise<AgentTool> {
  const kind = id.startsWith('rag_') ? 'RAG' : id.startsWith('ret_') ? 'retrieval' : 'API'
  const route = { RAG: ragToolRoutes.get, retrieval: retrievalToolRoutes.get, API: apiToolRoutes.get }[kind]
  try {
    const { data } = await call(connection, route, { params: { id } })
    const asks = 'requires_confirmation' in data && data.requires_confirmation === true
    return { id, kind, name: data.name, description: data.description, requiresConfirmation: asks }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { id, kind, name: id, description: error.message, requiresConfirmation: false }
  }
}

const TOP_K = 5

export interface SearchResult {
  citations: Citation[]
  /** Nothing fits: these are only the nearest there are. */
  loose: boolean
}

/** Passages for a query, by the agent's own tools: those that only search where it has any, for they call no model. */
export async function searchDocuments(connection: Connection, tools: readonly string[], query: string): Promise<SearchResult | undefined> {
  const searching = tools.filter((id) => id.startsWith('ret_'))
  const answering = tools.filter((id) => id.startsWith('rag_'))
  if (searching.length + answering.length === 0) return undefined
  const body = { query, top_k: TOP_K }
  const found =
    searching.length > 0
      ? await Promise.all(
          searching.map(async (id) => (await call(connection, retrievalToolRoutes.search, { params: { id }, body })).data.results),
        )
      : await Promise.all(answering.map(async (id) => (await call(connection, ragToolRoutes.query, { params: { id }, body })).data.results))
  const sorted = found.flat().sort((a, b) => b.score - a.score)
  const fitting = sorted.filter((passage) => !passage.loose)
  return { citations: (fitting.length > 0 ? fitting : sorted).map(toCitation), loose: fitting.length === 0 }
}

function toCitation({ content, score, metadata }: Static<typeof Passage>, at: number): Citation {
  return {
    index: at + 1,
    source: metadata.source,
    page: metadata.page,
    document_id: metadata.document_id ?? '',
    content,
    score,
    cited: true,
  }
}
