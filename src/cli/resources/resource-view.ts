/** A resource as people read it: what it refers to by name, and of one that was just made only what was said of it. */
import type { Connection } from '../../client/request.ts'
import type { OutputData } from '../terminal/render.ts'
import type { Row } from '../terminal/table.ts'
import { fetchNames } from './resource-names.ts'
import type { Topic } from './topic.ts'

type ReferenceFields = Pick<Topic, 'references' | 'absent'>

/** Every field, with the names of what it refers to before their identifiers. */
export async function addReferenceNames(
  connection: Connection,
  { references, nullLabels: absent = {} }: ReferenceFields,
  row: Row,
): Promise<Row> {
  const fields = Object.keys(references).filter((field) => row[field] !== null && row[field] !== undefined)
  const names = await fetchNames(connection, collectIdentifiers([row], fields))
  const named = (id: unknown) => (names.has(String(id)) ? `${names.get(String(id))} (${String(id)})` : id)
  const nothing = Object.entries(absent).filter(([field]) => row[field] === null)
  return { ...row, ...Object.fromEntries([...nothing, ...fields.map((field) => [field, mapValue(row[field], named)])]) }
}

/** Rows of a table whose columns hold names in place of identifiers, and are called after what they name. */
export async function createTableRows(
  connection: Connection,
  { references, columns }: Pick<Topic, 'references' | 'columns'>,
  rows: readonly Row[],
): Promise<OutputData> {
  const fields = columns.filter((column) => column in references)
  const names = await fetchNames(connection, collectIdentifiers(rows, fields))
  const heading = (column: string) => (fields.includes(column) ? column.replace(/_ids?$/, '') : column)
  const cells = (row: Row) =>
    columns.map((column) => [
      heading(column),
      fields.includes(column) ? mapValue(row[column], (id) => names.get(String(id)) ?? id) : row[column],
    ])
  return { data: rows.map((row) => Object.fromEntries(cells(row))), columns: columns.map(heading) }
}

const mapValue = (value: unknown, change: (id: unknown) => unknown): unknown => (Array.isArray(value) ? value.map(change) : change(value))

const collectIdentifiers = (rows: readonly Row[], fields: readonly string[]): string[] =>
  rows.flatMap((row) => fields.flatMap((field) => [row[field]].flat())).filter((id) => typeof id === 'string')

/** Without what is empty, and without when it was made, which is now. */
export function omitEmptyFields(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).filter(([field, value]) => !isEmpty(value) && field !== 'created_at' && field !== 'updated_at'),
  )
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
