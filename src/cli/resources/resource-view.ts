/** Prepares resources for display: names for references, no empty fields. */
import type { Connection } from '../../client/request.ts'
import type { OutputData } from '../terminal/render.ts'
import type { Row } from '../terminal/table.ts'
import { fetchNames } from './resource-names.ts'
import type { Topic } from './topic.ts'

type ReferenceFields = Pick<Topic, 'references' | 'nullLabels' | 'toView'>

/** Shows references as `name (ID)`. */
export async function addReferenceNames(
  connection: Connection,
  { references, nullLabels: absent = {}, toView = (resource) => resource }: ReferenceFields,
  resource: Row,
): Promise<Row> {
  const row = toView(resource)
  const fields = Object.keys(references).filter((field) => row[field] !== null && row[field] !== undefined)
  const names = await fetchNames(connection, collectIdentifiers([row], fields))
  const formatReference = (id: unknown) => (names.has(String(id)) ? `${names.get(String(id))} (${String(id)})` : id)
  const nothing = Object.entries(absent).filter(([field]) => row[field] === null)
  return { ...row, ...Object.fromEntries([...nothing, ...fields.map((field) => [field, mapValue(row[field], formatReference)])]) }
}

/** Shows references by name, under the heading without _id. */
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

/** Lists the IDs in all fields that refer to other resources. */
export const listReferencedIds = ({ references }: Pick<Topic, 'references'>, rows: readonly Row[]): string[] =>
  collectIdentifiers(rows, Object.keys(references))

/** Also omits the timestamps, for a resource that was just created. */
export function omitEmptyFields(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).filter(([field, value]) => !isEmpty(value) && field !== 'created_at' && field !== 'updated_at'),
  )
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
