/** The tools of the MCP server: the fixed ones, and the RAG, retrieval and API tools that are marked as exposed. */
import type { Static } from 'typebox'
import { MCP_ACCESS, MCP_TOOLS, type McpToolName } from '../../src/contract/mcp.ts'
import { hasAccess } from '../../src/contract/route.ts'
import { object, optional } from '../../src/contract/schemas/fields.ts'
import { QueryResult, query, SearchResult, top_k } from '../../src/contract/schemas/passages.ts'
import { createUniqueName } from '../agents/toolset.ts'
import type { ApiToolsService } from '../api-tools/service.ts'
import type { Caller } from '../core/caller.ts'
import type { DocumentLookup } from '../knowledge/document-lookup.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import type { RagToolsService } from '../rag-tools/service.ts'
import type { RetrievalToolsService } from '../retrieval-tools/service.ts'
import type { Validator } from '../validation/validator.ts'
import { type AskDependencies, askAgent } from './ask-agent.ts'
import { createDocumentTools } from './document-tools.ts'
import { formatCitedAnswer, formatFoundPassages } from './format-results.ts'
import type { McpCall, McpResult, McpTool, ToolInput } from './mcp-tool.ts'
import { describeTables, queryTable } from './table-tools.ts'

export interface McpToolsDependencies extends AskDependencies {
  validator: Validator
  knowledge: KnowledgeService
  documentLookup: DocumentLookup
  ragTools: RagToolsService
  retrievalTools: RetrievalToolsService
  apiTools: ApiToolsService
}

/** Clients read all tools into the context of their model. */
const MAX_EXPOSED_TOOLS = 200
const CHANGING_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE']
const QuestionInput = object({ query, ...optional({ top_k }) })
const API_OUTPUT = {
  type: 'object',
  properties: { status: { type: 'integer', description: 'HTTP status.' }, body: { description: 'Body of the response.' } },
  required: ['status'],
}

/** A tool without its name, which depends on the names of the other tools. */
type ExposedTool = Omit<McpTool, 'name'> & { created_at: string }

export class McpTools {
  readonly #dependencies: McpToolsDependencies
  readonly #calls: { [Name in McpToolName]: (input: ToolInput<Name>, call: McpCall) => Promise<McpResult> }

  constructor(dependencies: McpToolsDependencies) {
    this.#dependencies = dependencies
    const documents = createDocumentTools(dependencies.knowledge, dependencies.documentLookup)
    this.#calls = {
      search: (input, call) => documents.search(input, call),
      ask: (input, call) => askAgent(dependencies, input, call),
      read_document: (input, call) => documents.read(input, call),
      list_sources: (input, call) => documents.list(input, call),
      describe_tables: (input, call) => describeTables(dependencies.knowledge, input, call),
      query_table: (input, call) => queryTable(dependencies.knowledge, input, call),
    }
  }

  /** Lists the tools that the caller may call. */
  async list(caller: Caller): Promise<McpTool[]> {
    const names = Object.keys(MCP_TOOLS) as McpToolName[]
    const fixed = await Promise.all(names.map((name) => this.#createFixedTool(name)))
    return [...fixed, ...(await this.#listExposedTools())].filter(({ access }) => hasAccess(caller.role, access))
  }

  /** Also finds tools that the caller may not call. */
  async find(name: string): Promise<McpTool | undefined> {
    if (Object.hasOwn(MCP_TOOLS, name)) return this.#createFixedTool(name as McpToolName)
    return (await this.#listExposedTools()).find((tool) => tool.name === name)
  }

  async #createFixedTool(name: McpToolName): Promise<McpTool> {
    const { validator } = this.#dependencies
    const { input, output, ...described } = MCP_TOOLS[name]
    return {
      name,
      ...described,
      inputSchema: toJsonSchema(input),
      outputSchema: toJsonSchema(output),
      isReadOnly: name !== 'ask' || !(await this.#canAgentsChangeSomething()),
      callsOtherServers: name === 'ask',
      requiresConfirmation: false,
      call: (args, call) => {
        validator.check(input, args)
        return this.#calls[name](args as never, call)
      },
    }
  }

  /** Whether an agent could call a tool that changes something without asking a user. */
  async #canAgentsChangeSomething(): Promise<boolean> {
    const { database, records } = this.#dependencies.apiTools
    return (await records.find(database, { requires_confirmation: 0, method: CHANGING_METHODS })).length > 0
  }

  /** The oldest tool with a name gets it; later ones get a number. */
  async #listExposedTools(): Promise<McpTool[]> {
    const kinds = await Promise.all([this.#listRagTools(), this.#listRetrievalTools(), this.#listApiTools()])
    const tools = kinds.flat().sort((a, b) => (a.created_at < b.created_at ? -1 : 1))
    const toolsByName = new Map<string, McpTool | undefined>(Object.keys(MCP_TOOLS).map((name) => [name, undefined]))
    for (const { created_at: _, ...tool } of tools.slice(0, MAX_EXPOSED_TOOLS)) {
      const name = createUniqueName(tool.title, toolsByName)
      toolsByName.set(name, { name, ...tool })
    }
    return [...toolsByName.values()].filter((tool) => tool !== undefined)
  }

  async #listRagTools(): Promise<ExposedTool[]> {
    const { ragTools, validator } = this.#dependencies
    const tools = await ragTools.records.find(ragTools.database, { expose_mcp: 1 }, MAX_EXPOSED_TOOLS)
    return tools.map(({ id, name, description, created_at }) => ({
      ...createSearchFields(name, description, `Answers questions from the documents of "${name}".`),
      created_at,
      access: MCP_ACCESS.ragTools,
      outputSchema: toJsonSchema(QueryResult),
      call: async (input, { caller, signal }) => {
        validator.check(QuestionInput, input)
        const result = await ragTools.query(caller, id, input as Static<typeof QuestionInput>, signal)
        const sources = result.results.map(({ metadata: { source, page, place, document_id = '' }, stale = false }, at) => ({
          ...{ index: at + 1, source, page, document_id, stale, ...(place === undefined ? {} : { place }) },
        }))
        return { text: formatCitedAnswer(result.answer, sources), data: result }
      },
    }))
  }

  async #listRetrievalTools(): Promise<ExposedTool[]> {
    const { retrievalTools, validator } = this.#dependencies
    const tools = await retrievalTools.records.find(retrievalTools.database, { expose_mcp: 1 }, MAX_EXPOSED_TOOLS)
    return tools.map(({ id, name, description, created_at }) => ({
      ...createSearchFields(name, description, `Finds passages in the documents of "${name}".`),
      created_at,
      access: MCP_ACCESS.retrievalTools,
      outputSchema: toJsonSchema(SearchResult),
      call: async (input, { caller, signal }) => {
        validator.check(QuestionInput, input)
        const result = await retrievalTools.search(caller, id, input as Static<typeof QuestionInput>, signal)
        return { text: formatFoundPassages(result.results), data: result }
      },
    }))
  }

  async #listApiTools(): Promise<ExposedTool[]> {
    const { apiTools } = this.#dependencies
    const records = await apiTools.records.find(apiTools.database, { expose_mcp: 1 }, MAX_EXPOSED_TOOLS)
    const tools = await Promise.all(
      records.map(async (record) => ({ record, tool: await apiTools.findTool(apiTools.database, record.id) })),
    )
    return tools.flatMap(({ record, tool }) => {
      if (!tool) return [] // deleted in between
      return {
        title: tool.name,
        description: tool.description,
        created_at: record.created_at,
        access: MCP_ACCESS.apiTools,
        inputSchema: tool.parameters,
        outputSchema: API_OUTPUT,
        isReadOnly: record.method === 'GET',
        callsOtherServers: true,
        requiresConfirmation: tool.requiresConfirmation,
        call: async (input, { caller, signal }) => {
          const outcome = await tool.run(input, { caller, origin: {}, signal })
          const data = (outcome.kind === 'value' ? outcome.value : outcome.passages) as Record<string, unknown>
          return { text: JSON.stringify(data), data }
        },
      }
    })
  }
}

const createSearchFields = (title: string, description: string, standard: string) => ({
  title,
  description: description.trim() === '' ? standard : description,
  inputSchema: toJsonSchema(QuestionInput),
  isReadOnly: true,
  callsOtherServers: false,
  requiresConfirmation: false,
})

/** A copy without the symbols and functions of the schema library. */
const toJsonSchema = (schema: object): Record<string, unknown> => JSON.parse(JSON.stringify(schema))
