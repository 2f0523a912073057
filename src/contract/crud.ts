/** The routes that every family has: list, get, create, update (PUT and PATCH) and delete. */
import { type TSchema, Type } from 'typebox'
import { type Access, type Method, route } from './route.ts'
import { type Fields, flag, formatSchemaName, identifier, namedObject, object, optional } from './schemas/fields.ts'
import { listQuery } from './schemas/list-query.ts'
import { createPatchSchema } from './schemas/patch.ts'

export const idParams = (noun: string) => object({ id: identifier(`the ${noun}`) })

/** What routes such as `POST /models/{id}/test` have in common. */
export const createAction = ({ name, noun, path }: Family, action: string, method: Method = 'POST') => ({
  id: `${name}.${action}`,
  family: name,
  method,
  path: `${path}/{id}/${action}`,
  params: idParams(noun),
})

/** What routes such as `GET /models/discover` have in common. */
export const createCollectionAction = ({ name, path }: Family, action: string, method: Method = 'POST') => ({
  id: `${name}.${action}`,
  family: name,
  method,
  path: `${path}/${action}`,
})

const forceQuery = object({
  force: Type.Optional(flag('Whether to delete a resource that is in use, and detach it.', false)),
})

export interface Family<
  L extends TSchema = TSchema,
  G extends TSchema = TSchema,
  C extends TSchema = TSchema,
  U extends TSchema = TSchema,
> {
  /** Plural; also the OpenAPI tag. */
  readonly name: string
  readonly noun: string
  readonly path: string
  /** Prefix of identifiers. */
  readonly prefix: string
  /** Schema of a resource in a list. */
  readonly item: L
  readonly resource: G
  readonly create: C
  readonly update: U
  /** Fields whose default depends on other fields. */
  readonly computedDefaults?: readonly string[]
  /** Fields that the daemon changes, in addition to updated_at. */
  readonly serverFields?: readonly string[]
  /** Fields that are computed for one resource: lists cannot sort or filter by them. */
  readonly computedFields?: readonly string[]
}

/** Creates a family whose path is its name and whose lists contain whole resources, unless the definition says otherwise. */
export function createFamily<G extends TSchema, C extends TSchema, U extends TSchema, L extends TSchema = G>(
  definition: Omit<Family<L, G, C, U>, 'path' | 'item'> & { path?: string; item?: L },
): Family<L, G, C, U> {
  return { path: `/${definition.name}`, item: definition.resource as unknown as L, ...definition }
}

interface CrudOptions {
  read: Access
  change: Access
  /** The field in the response to create with a secret that is not returned again. */
  revealsSecret?: string
  isConfidential?: boolean
  /** Maximum size of the body of create and update, in bytes. Default: 1 MB. */
  bodyLimit?: number
}

/** Adds the indefinite article by pronunciation: an agent, an API tool, an MCP server, a usage threshold. */
export const withArticle = (noun: string): string => `${/^(?:[aeio]|u(?!s)|MCP)/i.test(noun) ? 'an' : 'a'} ${noun}`

/** Memories, agents. */
export const pluralize = (noun: string): string => (/[^aeiou]y$/.test(noun) ? noun.replace(/y$/, 'ies') : `${noun}s`)

/** The body of a create request. `note` continues the description. */
export const createBody = <R extends Fields, O extends Fields>(noun: string, required: R, others: O, example: object, note = '') =>
  namedObject(`${formatSchemaName(noun)}Create`, `A new ${noun}.${note}`, { ...required, ...optional(others) }, [example])

/** The body of an update request: any of the fields. `note` continues the description. */
export const updateBody = <F extends Fields>(noun: string, fields: F, example: object, note = '') =>
  namedObject(`${formatSchemaName(noun)}Update`, `Fields of ${withArticle(noun)} to change.${note}`, optional(removeDefaults(fields)), [
    example,
  ])

/** A field that an update omits keeps its value. */
const removeDefaults = <F extends Fields>(fields: F): F =>
  Object.fromEntries(Object.entries(fields).map(([name, { default: _, ...field }]: [string, { default?: unknown }]) => [name, field])) as F

const UPDATE_NOTE =
  'Without fields nothing is changed. Unchanged read-only fields are accepted. With If-Match, fails if the resource was changed since.'

export function createCrudRoutes<L extends TSchema, G extends TSchema, C extends TSchema, U extends TSchema, N extends TSchema = G>(
  family: Family<L, G, C, U>,
  { read, change, revealsSecret, isConfidential, bodyLimit }: CrudOptions,
  created?: N,
) {
  const { name, noun, path, item, resource, create, update, computedFields } = family
  const aNoun = withArticle(noun)
  const limit = { ...(bodyLimit ? { bodyLimit } : {}), ...(isConfidential ? { isConfidential } : {}) }
  const one = { family: name, path: `${path}/{id}`, params: idParams(noun), response: resource }
  const updateOne = {
    ...one,
    ...limit,
    body: update,
    access: change,
    summary: `Update ${aNoun}`,
  }
  const { required = [] } = create as TSchema & { required?: string[] }
  return {
    list: route({
      id: `${name}.list`,
      family: name,
      method: 'GET',
      path,
      summary: `List ${pluralize(noun)}`,
      access: read,
      query: listQuery(resource, computedFields),
      response: item,
      shape: 'page',
    }),
    get: route({ ...one, id: `${name}.get`, method: 'GET', summary: `Get ${aNoun}`, access: read }),
    create: route({
      id: `${name}.create`,
      family: name,
      method: 'POST',
      path,
      summary: `Create ${aNoun}`,
      access: change,
      body: create,
      response: (created ?? resource) as N,
      status: 201,
      ...limit,
      ...(revealsSecret ? { revealsSecret } : {}),
    }),
    update: route({
      ...updateOne,
      id: `${name}.update`,
      method: 'PUT',
      description: `Omitted fields keep their values; objects within fields are replaced. ${UPDATE_NOTE}`,
    }),
    patch: route({
      ...updateOne,
      id: `${name}.patch`,
      method: 'PATCH',
      body: createPatchSchema(update, `Changes to ${aNoun}, as a JSON merge patch.`, required),
      description: `A JSON merge patch (RFC 7396): objects are merged, and null removes a value or restores its default. ${UPDATE_NOTE}`,
    }),
    remove: route({
      ...one,
      id: `${name}.remove`,
      method: 'DELETE',
      summary: `Delete ${aNoun}`,
      access: change,
      query: forceQuery,
      shape: 'message',
    }),
  }
}

export type CrudRoutes = ReturnType<typeof createCrudRoutes>
