/** Creates the tools with which chat models compute over the tables of knowledge sources. */
import { Type } from 'typebox'
import { CadreError } from '../../src/contract/errors.ts'
import type { TableQueryResult } from '../../src/contract/families/tables.ts'
import { object, optional } from '../../src/contract/schemas/fields.ts'
import type { RetrievedPassage, Tool } from '../core/tool.ts'
import type { Validator } from '../validation/validator.ts'
import type { ToolIdentity } from './search-tool.ts'
import type { SourceTables } from './tables/source-tables.ts'
import type { TableDocument } from './tables/table-store.ts'

const MAX_SQL_LENGTH = 20_000
/** Models do not need more; they can aggregate. */
const MAX_ROWS = 200
/** Of the result of a query in a citation. */
const MAX_CITED_ROWS = 10
const MAX_CITED_LENGTH = 4_000

const source = Type.String({ minLength: 1, maxLength: 200 })
const QueryInput = object({ sql: Type.String({ minLength: 1, maxLength: MAX_SQL_LENGTH }), ...optional({ source }) })
const DescribeInput = object({})

const SOURCE_DESCRIPTION = 'Source of the table as describe_tables returns it; can be left out if there is only one.'

/**
 * Returns no tools if the sources have no tables.
 * @param tool the tool that searches the same documents
 */
export function createTableTools(
  { id, name }: ToolIdentity,
  sourceIds: readonly string[],
  validator: Validator,
  tables: Pick<SourceTables, 'hasTables' | 'describe' | 'query'>,
): Tool[] {
  const own = sourceIds.filter((sourceId) => tables.hasTables(sourceId))
  if (own.length === 0) return []
  return [
    {
      id: `${id}/describe_tables`,
      name: 'describe_tables',
      description:
        `Lists the tables in the documents of "${name}": their documents, rows, and columns with types. ` +
        'Call it before query_table. Counts, sums, averages, comparisons and complete lists of rows must be computed, ' +
        'not read from passages.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      requiresConfirmation: false,
      run: async (input) => {
        validator.check(DescribeInput, input)
        const described = await Promise.all(own.map((sourceId) => tables.describe(sourceId)))
        return { kind: 'value', value: { tables: described.flat() } }
      },
    },
    {
      id: `${id}/query_table`,
      name: 'query_table',
      description:
        `Runs one SELECT of SQLite over the tables in the documents of "${name}" and returns at most ${MAX_ROWS} rows. ` +
        'Use it for counts, sums, averages and lists; search for everything else. Cite the result, and name the conditions in your answer.',
      parameters: {
        type: 'object',
        properties: {
          sql: { type: 'string', description: 'One SELECT statement over tables that describe_tables lists.' },
          source: { type: 'string', description: SOURCE_DESCRIPTION },
        },
        required: ['sql'],
        additionalProperties: false,
      },
      requiresConfirmation: false,
      run: async (input, { signal }) => {
        validator.check(QueryInput, input)
        const { sql, source: from } = input as { sql: string; source?: string }
        const sourceId = from === undefined && own.length === 1 ? own[0] : own.find((candidate) => candidate === from)
        if (sourceId === undefined)
          throw new CadreError('VALIDATION_ERROR', 'source must be one of those that describe_tables returns.', {
            hint: `Use ${own.join(' or ')}.`,
          })
        const { result, documents } = await tables.query(id, sourceId, sql, MAX_ROWS, signal)
        return { kind: 'value', value: result, origin: documents.map((document) => createOrigin(document, sql, result)) }
      },
    },
  ]
}

/** A reader of the answer sees the query and the first rows of its result. */
function createOrigin({ id, name, contentHash }: TableDocument, sql: string, { columns, rows }: TableQueryResult): RetrievedPassage {
  const lines = [columns, ...rows.slice(0, MAX_CITED_ROWS)].map((row) => row.map((value) => value ?? '').join(' | '))
  const more = rows.length > MAX_CITED_ROWS ? [`… and ${rows.length - MAX_CITED_ROWS} more rows`] : []
  const metadata = { source: name, page: 1, document_id: id, content_hash: contentHash }
  return { content: [sql, '', ...lines, ...more].join('\n').slice(0, MAX_CITED_LENGTH), score: 1, metadata }
}
