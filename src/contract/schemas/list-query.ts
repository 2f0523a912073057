/** Paged lists: the query every list takes, with equality filters on the resource's scalar fields. */
import { type TObject, type TOptional, type TSchema, Type } from 'typebox'
import { getFields, getScalarType, object, optional, stringEnum } from './fields.ts'

export const DEFAULT_LIMIT = 20
export const MAX_LIMIT = 100

const paging = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1, description: 'Page number, from 1.' }),
  limit: Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT, description: 'Items a page.' }),
  order: stringEnum(['asc', 'desc'], { default: 'desc', description: 'Direction of the sort.' }),
}

export interface ListQuery {
  page?: number
  limit?: number
  sort?: string
  order?: 'asc' | 'desc'
  [filter: string]: unknown
}

/** Names of the fields a list can be sorted and filtered by: every stored scalar. */
export function getSortableFields(resource: TSchema): string[] {
  return Object.entries(getFields(resource))
    .filter(([, schema]) => getScalarType(schema))
    .map(([name]) => name)
}

export function listQuery(
  resource: TSchema,
): TObject<{ [K in keyof typeof paging]: TOptional<(typeof paging)[K]> } & { sort: TOptional<TSchema> }> {
  const sortable = getSortableFields(resource)
  const filters = Object.fromEntries(sortable.map((name) => [name, Type.Optional(filterField(name, getFields(resource)[name] as TSchema))]))
  const sort = stringEnum(sortable, { default: 'created_at', description: 'Field to sort by.' })
  return object({ ...filters, ...optional({ ...paging, sort }) }) as never
}

/** A filter compares; it does not repeat the limits of the field it compares with. */
function filterField(name: string, schema: TSchema): TSchema {
  const type = getScalarType(schema)
  return Type.Unsafe({ type, ...(type === 'string' ? { maxLength: 2_000 } : {}), description: `Only those whose ${name} equals this.` })
}
