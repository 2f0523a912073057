/** Query parameters of lists: paging, sorting and equality filters on scalar fields. */
import { type Static, type TObject, type TOptional, type TSchema, Type } from 'typebox'
import { count, getFields, getScalarType, integer, namedObject, object, optional, stringEnum } from './fields.ts'

export const DEFAULT_LIMIT = 20
export const MAX_LIMIT = 100

const paging = {
  page: integer('Page number, from 1.', { minimum: 1, maximum: 1_000_000_000, default: 1 }),
  limit: integer('Number of items per page.', { minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT }),
  order: stringEnum(['asc', 'desc'], { default: 'desc', description: 'Sort order.' }),
}

export type Pagination = Static<typeof Pagination>
export const Pagination = namedObject(
  'Pagination',
  'Position in the list.',
  {
    page: count('Page number.'),
    limit: count('Number of items per page.'),
    total: count('Total number of items.'),
    pages: count('Number of pages.'),
  },
  [{ page: 1, limit: 20, total: 131, pages: 7 }],
)

export interface ListQuery {
  page?: number
  limit?: number
  sort?: string
  order?: 'asc' | 'desc'
  [filter: string]: unknown
}

/** Names of the scalar fields, which lists can sort and filter by, without those that are computed for one resource. */
export function getSortableFields(resource: TSchema, computedFields: readonly string[] = []): string[] {
  return Object.entries(getFields(resource))
    .filter(([name, schema]) => getScalarType(schema) && !computedFields.includes(name))
    .map(([name]) => name)
}

export function listQuery(
  resource: TSchema,
  computedFields?: readonly string[],
): TObject<{ [K in keyof typeof paging]: TOptional<(typeof paging)[K]> } & { sort: TOptional<TSchema> }> {
  const sortable = getSortableFields(resource, computedFields)
  const filters = Object.fromEntries(sortable.map((name) => [name, Type.Optional(filterField(name, getFields(resource)[name] as TSchema))]))
  const sort = stringEnum(sortable, { default: 'created_at', description: 'Field to sort by.' })
  return object({ ...filters, ...optional({ ...paging, sort }) }) as never
}

/** A filter does not have the limits of its field. */
function filterField(name: string, schema: TSchema): TSchema {
  const type = getScalarType(schema)
  return Type.Unsafe({ type, ...(type === 'string' ? { maxLength: 2_000 } : {}), description: `Filter by ${name}.` })
}
