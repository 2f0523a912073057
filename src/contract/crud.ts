/** The routes that every resource family has: list, get, create, update (PUT and PATCH alike) and delete. */
import { type TSchema, Type } from 'typebox'
import { type Access, route } from './route.ts'
import { identifier, object } from './schemas/fields.ts'
import { listQuery } from './schemas/list-query.ts'

export const idParams = (noun: string) => object({ id: identifier(`the ${noun}`) })

export const forceQuery = object({
  force: Type.Optional(Type.Boolean({ default: false, description: 'Delete although it is in use, and detach it from its users.' })),
})

export interface Family<
  L extends TSchema = TSchema,
  G extends TSchema = TSchema,
  C extends TSchema = TSchema,
  U extends TSchema = TSchema,
> {
  /** Plural, as in the path's last part and the OpenAPI tag. */
  readonly name: string
  readonly noun: string
  readonly path: string
  readonly prefix: string
  readonly item: L
  readonly resource: G
  readonly create: C
  readonly update: U
  /** Fields that the service writes by itself as time goes, beside updated_at. */
  readonly serverFields?: readonly string[]
}

interface CrudOptions {
  read: Access
  change: Access
  /** The create reply shows a secret once. */
  revealsSecret?: boolean
  /** Bytes that creating and changing take; a megabyte when left out. */
  bodyLimit?: number
}

/** As it is spoken: an agent, an API tool, but a usage threshold. */
export const withArticle = (noun: string): string => `${/^(?:[aeio]|u(?!s))/i.test(noun) ? 'an' : 'a'} ${noun}`

export function crud<L extends TSchema, G extends TSchema, C extends TSchema, U extends TSchema, N extends TSchema = G>(
  family: Family<L, G, C, U>,
  doors: CrudOptions,
  created?: N,
) {
  const { name, noun, path, item, resource, create, update } = family
  const aNoun = withArticle(noun)
  const params = idParams(noun)
  const limited = doors.bodyLimit ? { bodyLimit: doors.bodyLimit } : {}
  const one = { family: name, path: `${path}/{id}`, params, response: resource }
  const change = {
    ...one,
    ...limited,
    body: update,
    access: doors.change,
    summary: `Change ${aNoun}`,
    description:
      'Fields that are left out keep their values; those that cannot be changed may be sent as they were read. Send If-Match with the ETag you read to be sure that nobody changed it since.',
  }
  return {
    list: route({
      id: `${name}.list`,
      family: name,
      method: 'GET',
      path,
      summary: `List ${noun}s`,
      access: doors.read,
      query: listQuery(resource),
      response: item,
      shape: 'page',
    }),
    get: route({ ...one, id: `${name}.get`, method: 'GET', summary: `Get ${aNoun}`, access: doors.read }),
    create: route({
      id: `${name}.create`,
      family: name,
      method: 'POST',
      path,
      summary: `Create ${aNoun}`,
      access: doors.change,
      body: create,
      response: (created ?? resource) as N,
      status: 201,
      ...limited,
      ...(doors.revealsSecret ? { revealsSecret: true } : {}),
    }),
    update: route({ ...change, id: `${name}.update`, method: 'PUT' }),
    patch: route({ ...change, id: `${name}.patch`, method: 'PATCH' }),
    remove: route({
      ...one,
      id: `${name}.remove`,
      method: 'DELETE',
      summary: `Delete ${aNoun}`,
      access: doors.change,
      query: forceQuery,
      shape: 'message',
    }),
  }
}

export type CrudRoutes = ReturnType<typeof crud>
