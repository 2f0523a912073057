/** Lists the tools of an agent and searches its documents. */
import { call } from '../../client/call.ts'
import { ServiceError } from '../../client/errors.ts'
import type { Connection } from '../../client/request.ts'
import { apiToolRoutes } from '../../contract/families/api-tools.ts'
import { mcpToolRoutes } from '../../contract/families/mcp/mcp-tools.ts'
import { ragToolRoutes } from '../../contract/families/rag-tools.ts'
import { retrievalToolRoutes } from '../../contract/families/retrieval-tools.ts'
import type { Citation } from '../../contract/schemas/messages.ts'
import type { Passage } from '../../contract/schemas/passages.ts'

interface AgentTool {
  name: string
  description: string
  kind: 'RAG' | 'retrieval' | 'API' | 'MCP'
  requiresConfirmation: boolean
}

/** A tool that is deleted or not accessible is listed by its id. */
export async function listTools(connection: Connection, ids: readonly string[]): Promise<AgentTool[]> {
  return Promise.all(ids.map((id) => fetchTool(connection, id)))
}

async function fetchTool(connection: Connection, id: string): Promise<AgentTool> {
  const kind = id.startsWith('rag_') ? 'RAG' : id.startsWith('ret_') ? 'retrieval' : id.startsWith('mcpt_') ? 'MCP' : 'API'
  const route = { RAG: ragToolRoutes.get, retrieval: retrievalToolRoutes.get, API: apiToolRoutes.get, MCP: mcpToolRoutes.get }[kind]
  try {
    const { data } = await call(connection, route, { params: { id } })
    const requiresConfirmation = 'requires_confirmation' in data && data.requires_confirmation === true
    return { kind, name: data.name, description: data.description, requiresConfirmation }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { kind, name: id, description: error.message, requiresConfirmation: false }
  }
}

const TOP_K = 5

export interface SearchResult {
  citations: Citation[]
  /** No passage matches well: these are the nearest ones. */
  loose: boolean
}

/** Uses the retrieval tools of the agent, which call no model, or else its RAG tools. Returns undefined if it has neither. */
export async function searchDocuments(connection: Connection, tools: readonly string[], query: string): Promise<SearchResult | undefined> {
  const retrievalTools = tools.filter((id) => id.startsWith('ret_'))
  const ragTools = tools.filter((id) => id.startsWith('rag_'))
  if (retrievalTools.length + ragTools.length === 0) return undefined
  const body = { query, top_k: TOP_K }
  const results =
    retrievalTools.length > 0
      ? await Promise.all(
          retrievalTools.map(async (id) => (await call(connection, retrievalToolRoutes.search, { params: { id }, body })).data.results),
        )
      : await Promise.all(ragTools.map(async (id) => (await call(connection, ragToolRoutes.query, { params: { id }, body })).data.results))
  const sorted = results.flat().sort((a, b) => b.score - a.score)
  const matching = sorted.filter((passage) => !passage.loose)
  return { citations: (matching.length > 0 ? matching : sorted).map(toCitation), loose: matching.length === 0 }
}

function toCitation({ content, score, metadata }: Passage, index: number): Citation {
  return {
    index: index + 1,
    source: metadata.source,
    page: metadata.page,
    ...(metadata.place === undefined ? {} : { place: metadata.place }),
    document_id: metadata.document_id ?? '',
    content,
    score,
    cited: true,
  }
}
