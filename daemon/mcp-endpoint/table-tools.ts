/** What MCP clients can do with the tables of documents: list and query them. */
import type { Table, TableQueryResult } from '../../src/contract/families/tables.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import { findByName } from './find-by-name.ts'
import type { McpCall, McpResult } from './mcp-tool.ts'

/** Models do not need more; they can aggregate. */
const MAX_ROWS = 200
const MAX_COLUMNS = 60

type Call = Pick<McpCall, 'caller' | 'signal'>

export async function describeTables(knowledge: KnowledgeService, { source }: { source: string }, { caller }: Call): Promise<McpResult> {
  const { id, name } = await findByName(knowledge, caller, source)
  const { tables } = await knowledge.listTables(caller, id)
  const text = tables.length === 0 ? `The documents of ${name} have no tables.` : tables.map(formatTable).join('\n')
  return { text, data: { tables } }
}

export async function queryTable(
  knowledge: KnowledgeService,
  { source, sql }: { source: string; sql: string },
  { caller, signal }: Call,
): Promise<McpResult> {
  const { id } = await findByName(knowledge, caller, source)
  const { result, documents } = await knowledge.queryDocuments(caller, id, { sql, max_rows: MAX_ROWS }, signal)
  const origin = documents.map(({ id: document, name }) => `${name} · ${document}`).join(', ')
  return { text: `${formatRows(result)}${origin === '' ? '' : `\n\nSource: ${origin}`}`, data: result }
}

function formatTable({ name, document, rows, columns, notice }: Table): string {
  const listed = columns
    .slice(0, MAX_COLUMNS)
    .map((column) => `${column.name} ${column.type}${column.unit === '' ? '' : ` (${column.unit})`}`)
  const more = columns.length > MAX_COLUMNS ? [`… ${columns.length - MAX_COLUMNS} more`] : []
  return `- ${name}: ${document}, ${rows} rows. Columns: ${[...listed, ...more].join(', ')}.${notice === null ? '' : ` ${notice}`}`
}

function formatRows({ columns, rows, truncated }: TableQueryResult): string {
  const lines = [columns, ...rows].map((row) => row.map((value) => String(value ?? '').replaceAll(/\s+/g, ' ')).join(' | '))
  return [...lines, ...(truncated ? [`[Only the first ${rows.length} rows. Select less, or aggregate.]`] : [])].join('\n')
}
