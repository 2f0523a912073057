/** The tools that the MCP server always has. */
import { type Static, type TSchema, Type } from 'typebox'
import { apiToolRoutes } from './families/api-tools.ts'
import { conversationRoutes } from './families/conversations.ts'
import { documentRoutes } from './families/documents.ts'
import { knowledgeSourceRoutes } from './families/knowledge-sources.ts'
import { promptTemplateRoutes } from './families/prompt-templates.ts'
import { ragToolRoutes } from './families/rag-tools.ts'
import { retrievalToolRoutes } from './families/retrieval-tools.ts'
import { Table, TableQueryResult, tableRoutes } from './families/tables.ts'
import type { Access } from './route.ts'
import { confidence } from './schemas/confidence.ts'
import { count, flag, identifier, integer, nonBlankText, nonEmptyText, object, optional, stringEnum } from './schemas/fields.ts'
import { Citation } from './schemas/messages.ts'
import { filters, PassageDescription, query, top_k } from './schemas/passages.ts'

const MAX_DOCUMENTS = 20
const reference = (what: string) => nonEmptyText(`Name or ID of ${what}.`, 2_000)
const source = Type.String({ description: 'Name of the knowledge source.' })
const line = (description: string) => Type.Integer({ minimum: 1, maximum: 100_000_000, description })

interface McpToolDefinition {
  title: string
  description: string
  /** Roles that may call it: those of the corresponding REST route. */
  access: Access
  input: TSchema
  output: TSchema
}

export type McpPassage = Static<typeof McpPassage>
const McpPassage = object({
  content: Type.String({ description: 'Text of the passage.' }),
  document: Type.String({ description: 'Name of the document.' }),
  document_id: identifier('the document'),
  source,
  page: integer('Page of the passage, from 1.', { minimum: 1 }),
  ...optional({
    place: Type.String({ description: 'Place of the passage if it is not a page, such as `slide 3` or `sheet Budget`.' }),
    headings: Type.String({ description: 'Headings above the passage, outermost first.' }),
    descriptions: Type.Array(PassageDescription, { description: 'Descriptions of the source and the folders of the document.' }),
    stale: flag('Whether the document was changed or deleted after it was indexed.'),
  }),
  score: Type.Number({ description: 'Relevance; higher is better.' }),
})

export type McpDocument = Static<typeof McpDocument>
const McpDocument = object({
  document: Type.String({ description: 'Name of the document, or the requested one if it cannot be read.' }),
  ...optional({
    document_id: identifier('the document'),
    source,
    text: Type.String({ description: 'Lines of the document, as text or Markdown.' }),
    from_line: line('First line of the text.'),
    to_line: count('Last line of the text.'),
    next_character: line('If the last line is longer than the text: the character to read on from.'),
    lines: count('Number of lines of the document.'),
    error: Type.String({ description: 'Why the document cannot be read.' }),
  }),
})

export type McpSource = Static<typeof McpSource>
const McpSource = object({
  id: identifier('the knowledge source'),
  name: Type.String({ description: 'Name of the knowledge source.' }),
  type: Type.String({ description: 'Type of the knowledge source.' }),
  status: Type.String({ description: 'Sync status; active if everything is indexed.' }),
  documents: count('Number of documents.'),
  ...optional({
    description: Type.String({ description: 'What its documents are about.' }),
    folders: Type.Array(PassageDescription, { description: 'Descriptions of folders.' }),
    last_sync: Type.String({ description: 'Time of the last sync.' }),
  }),
})

const askOutput = object({
  answer: Type.String({ description: 'Answer, with citations such as [1].' }),
  agent: Type.String({ description: 'Name of the agent that answered.' }),
  citations: Type.Array(Citation, { description: 'Passages that the answer cites.' }),
  finish_reason: Type.String({ description: 'Why the answer ended; stop if it is complete.' }),
  ...optional({ confidence }),
})

/** The tools that exist for every token with the role. Their names are reserved. */
export const MCP_TOOLS = {
  search: {
    title: 'Search documents',
    description:
      "Searches the user's documents (notes, manuals, policies, code and more) by meaning and by words, and returns the best passages " +
      'with their document and page. Use read_document to read more of a document.',
    access: retrievalToolRoutes.search.access,
    input: object({
      query,
      ...optional({
        sources: Type.Array(reference('a knowledge source'), {
          minItems: 1,
          maxItems: 100,
          description: 'Sources to search. Default: all.',
        }),
        top_k: { ...top_k, default: 8 } as typeof top_k,
        filters,
      }),
    }),
    output: object({ results: Type.Array(McpPassage, { description: 'Passages, best first.' }) }),
  },
  ask: {
    title: 'Ask an agent',
    description:
      "Asks a Cadre agent a question. The agent searches the user's documents, uses its tools and answers with citations. Use search " +
      'to read the passages yourself.',
    access: conversationRoutes.send.access,
    input: object({
      question: nonBlankText('Question, with everything the agent must know.', 100_000),
      ...optional({ agent: reference('the agent. Not needed if there is only one') }),
    }),
    output: askOutput,
  },
  read_document: {
    title: 'Read documents',
    description: 'Reads one or more documents as text: whole documents, or lines of them. Long texts are cut; read on from the next line.',
    access: documentRoutes.get.access,
    input: object({
      documents: Type.Array(
        object({
          document: reference('the document, as returned by search or list_sources'),
          ...optional({
            source: reference('its knowledge source. Needed if several have a document of that name'),
            from_line: line('First line to read. Default: 1.'),
            from_character: line('First character to read of that line. Default: 1.'),
            to_line: line('Last line to read. Default: the last line of the document.'),
          }),
        }),
        { minItems: 1, maxItems: MAX_DOCUMENTS, description: 'Documents to read.' },
      ),
    }),
    output: object({ documents: Type.Array(McpDocument, { description: 'Texts, in the order of the request.' }) }),
  },
  list_sources: {
    title: 'List knowledge sources',
    description: 'Lists the knowledge sources with their descriptions or, with source, the documents of one of them.',
    access: knowledgeSourceRoutes.list.access,
    input: object(
      optional({ source: reference('a knowledge source whose documents to list'), page: { ...line('Page of the list.'), default: 1 } }),
    ),
    output: object({
      sources: Type.Array(McpSource, { description: 'Knowledge sources.' }),
      ...optional({
        documents: Type.Array(
          object({
            id: identifier('the document'),
            name: Type.String({ description: 'Name of the document.' }),
            type: Type.String({ description: 'File type.' }),
            status: stringEnum(['waiting', 'parsing', 'recognizing', 'indexing', 'indexed', 'failed'], { description: 'Indexing status.' }),
          }),
          { description: 'Documents of the source.' },
        ),
      }),
      total: count('Number of sources or documents.'),
      pages: count('Number of pages of the list.'),
    }),
  },
  describe_tables: {
    title: 'Describe tables',
    description:
      'Lists the tables in the documents of a knowledge source (CSV, spreadsheets, JSON, tables in text) with the names and types of ' +
      'their columns. Use it before query_table.',
    access: tableRoutes.list.access,
    input: object({ source: reference('the knowledge source') }),
    output: object({ tables: Type.Array(Table, { description: 'Tables, by document.' }) }),
  },
  query_table: {
    title: 'Query tables',
    description:
      'Runs one SELECT of SQLite over the tables of a knowledge source. Use it for counts, sums, averages, comparisons and complete ' +
      'lists of rows, and search for everything else: a search finds only some of the rows.',
    access: tableRoutes.query.access,
    input: object({
      source: reference('the knowledge source'),
      sql: nonBlankText('A SELECT over tables of describe_tables.', 20_000),
    }),
    output: TableQueryResult,
  },
} as const satisfies Record<string, McpToolDefinition>

export type McpToolName = keyof typeof MCP_TOOLS

/** Roles for what is not one of these tools: those of the corresponding REST routes. */
export const MCP_ACCESS = {
  ragTools: ragToolRoutes.query.access,
  retrievalTools: retrievalToolRoutes.search.access,
  apiTools: apiToolRoutes.test.access,
  documents: documentRoutes.get.access,
  prompts: promptTemplateRoutes.render.access,
} as const satisfies Record<string, Access>
