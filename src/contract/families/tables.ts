/** Tables of the documents of a knowledge source. */
import { type Static, Type } from 'typebox'
import { idParams } from '../crud.ts'
import { route } from '../route.ts'
import { count, flag, identifier, integer, namedObject, nonBlankText, nullable, optional, stringEnum } from '../schemas/fields.ts'

export const MAX_QUERY_ROWS = 10_000
const DEFAULT_QUERY_ROWS = 1_000
const COLUMN_TYPES = ['integer', 'decimal', 'percentage', 'currency', 'duration', 'date', 'boolean', 'text'] as const

export type TableColumn = Static<typeof TableColumn>
export const TableColumn = namedObject('TableColumn', 'A column of a table.', {
  name: Type.String({ description: 'Name of the column in SQL.' }),
  header: Type.String({ description: 'Header of the column in the document.' }),
  type: stringEnum(COLUMN_TYPES, {
    description: 'Type of the values. Dates are texts such as 2024-03-05, durations are seconds, boolean is 0 or 1.',
  }),
  unit: Type.String({ description: 'Unit of the numbers; empty if there is none.' }),
  text_name: Type.String({ description: 'Name of the SQL column with the values as they are in the document.' }),
})

export type Table = Static<typeof Table>
export const Table = namedObject('Table', 'A table of a document.', {
  name: Type.String({ description: 'Name of the table in SQL.' }),
  document: Type.String({ description: 'Name of the document.' }),
  document_id: identifier('the document'),
  rows: count('Number of rows, without rows of totals.'),
  columns: Type.Array(TableColumn, { description: 'Columns, in order.' }),
  notice: nullable(Type.String({ description: 'What is not part of the table because of its size.' })),
})

export type TableList = Static<typeof TableList>
const TableList = namedObject('TableList', 'Tables.', {
  tables: Type.Array(Table, { description: 'Tables, by document.' }),
  left_out: Type.Array(
    namedObject('IncompleteDocument', 'A document of which tables were left out.', {
      document: Type.String({ description: 'Name of the document.' }),
      document_id: identifier('the document'),
      notice: Type.String({ description: 'What was left out, and why.' }),
    }),
    { description: 'Documents whose tables are not complete because of their number or size.' },
  ),
})

const cell = Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'] })

export const TableQuery = namedObject(
  'TableQuery',
  'A query.',
  {
    sql: nonBlankText('A SELECT over the tables of the source.', 20_000),
    ...optional({
      max_rows: integer('Maximum number of rows.', { minimum: 1, maximum: MAX_QUERY_ROWS, default: DEFAULT_QUERY_ROWS }),
    }),
  },
  [{ sql: "SELECT count(*) FROM orders WHERE status = 'cancelled'" }],
)

export type TableQueryResult = Static<typeof TableQueryResult>
export const TableQueryResult = namedObject('TableQueryResult', 'Rows of a query.', {
  columns: Type.Array(Type.String(), { description: 'Names of the columns.' }),
  rows: Type.Array(Type.Array(cell), { description: 'Values of each row, in the order of the columns.' }),
  truncated: flag('Whether there are more rows.'),
})

const tables = { family: 'knowledge-sources', params: idParams('knowledge source'), access: 'read' as const }

export const tableRoutes = {
  list: route({
    ...tables,
    id: 'tables.list',
    method: 'GET',
    path: '/knowledge-sources/{id}/tables',
    summary: 'List the tables of a knowledge source',
    description: 'Returns the tables of CSV, JSON, Markdown and other documents, with the types of their columns.',
    response: TableList,
  }),
  query: route({
    ...tables,
    id: 'tables.query',
    method: 'POST',
    path: '/knowledge-sources/{id}/tables/query',
    summary: 'Query the tables of a knowledge source',
    description: 'Runs one SELECT of SQLite over the tables of the source. A query that takes longer than 5 s is ended.',
    body: TableQuery,
    response: TableQueryResult,
  }),
}
