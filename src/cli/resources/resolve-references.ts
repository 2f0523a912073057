/** Resolves names to IDs. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import type { Route } from '../../contract/route.ts'
import type { Body } from '../input/input-reader.ts'
import { createAmbiguousNameError, createUnknownNameError, type FoundResource, type NameQuery } from './name-errors.ts'
import { IDENTIFIER, KINDS, type Kind } from './resource-kinds.ts'
import { fetchNames } from './resource-names.ts'

/** The kinds of resource a field can refer to; they may depend on another field. */
export type Reference = readonly Kind[] | ((body: Body) => readonly Kind[])
export type References = Readonly<Record<string, Reference>>

/** For a field whose kind is the value of another field. Without that field all kinds match; other values (such as user) match none. */
export const getKindsByField =
  (field: string, kinds: readonly Kind[]) =>
  (body: Body): readonly Kind[] =>
    body[field] === undefined ? kinds : kinds.filter((kind) => kind === body[field])

/** Replaces names by IDs in reference fields. With keepUnknown, unknown names are kept. */
export async function resolveReferences(
  connection: Connection,
  references: References,
  body: Body,
  { keepUnknown = false }: { keepUnknown?: boolean } = {},
): Promise<Body> {
  const resolved = { ...body }
  for (const [field, reference] of Object.entries(references)) {
    const kinds = typeof reference === 'function' ? reference(body) : reference
    const value = body[field]
    if (kinds.length === 0) continue
    if (typeof value === 'string') resolved[field] = await resolveKind(connection, kinds, value, keepUnknown)
    else if (Array.isArray(value))
      resolved[field] = await Promise.all(
        value.map((item: unknown) => (typeof item === 'string' ? resolveKind(connection, kinds, item, keepUnknown) : item)),
      )
  }
  return resolved
}

async function resolveKind(connection: Connection, kinds: readonly Kind[], value: string, keepUnknown: boolean): Promise<string> {
  if (IDENTIFIER.test(value)) return value
  const lists = await Promise.all(kinds.map((kind) => KINDS[kind].list()))
  const query = { value, noun: formatNoun(kinds), label: 'name', commands: kinds.map((kind) => KINDS[kind].command) }
  const otherwise = keepUnknown ? () => ({ id: value }) : kinds.includes('model') ? findProviderModel : undefined
  return (await findOnly(connection, lists, query, otherwise)).id
}

/** The three kinds of tool together are called tool. */
function formatNoun(kinds: readonly Kind[]): string {
  const nouns = kinds.map((kind) => KINDS[kind].noun)
  return nouns.length > 1 && nouns.every((noun) => noun.endsWith('tool')) ? 'tool' : nouns.join(' or ')
}

/** The service also accepts the provider's model name, and reports invalid IDs itself. */
const findProviderModel = (others: ResourceList, value: string): FoundResource | undefined =>
  !others.complete || value.startsWith('model_') || others.data.some(({ model_id }) => model_id === value) ? { id: value } : undefined

const MAX_LISTED = 100

/** A family whose resources have a name field. */
interface NamedFamily {
  command: string
  family: { noun: string; prefix: string }
  routes: { list: Route }
  label?: string
}

/** Returns the ID of the resource with this name or ID. */
export async function resolveResource(
  connection: Connection,
  { family, routes, label, command }: NamedFamily,
  value: string,
): Promise<string> {
  if (label === undefined || IDENTIFIER.test(value)) return value
  // The service reports malformed IDs itself.
  const own = () => (value.startsWith(`${family.prefix}_`) ? { id: value } : undefined)
  return (await findOnly(connection, [routes.list], { value, noun: family.noun, label, commands: [command] }, own)).id
}

/** Whether a resource has this name or ID. */
export async function hasResource(
  connection: Connection,
  { routes, label = 'name', family }: NamedFamily,
  value: string,
): Promise<boolean> {
  if (IDENTIFIER.test(value)) return value.startsWith(`${family.prefix}_`)
  return value.trim() !== '' && (await listByLabel(connection, routes.list, label, value)).total > 0
}

/** Other resources with the same name, newest first. */
export async function findNamesakes(
  connection: Connection,
  { routes, label }: NamedFamily,
  { id, ...resource }: FoundResource,
): Promise<FoundResource[]> {
  const name = label === undefined ? undefined : resource[label]
  if (label === undefined || typeof name !== 'string' || name === '') return []
  return (await listByLabel(connection, routes.list, label, name)).data.filter((other) => other.id !== id)
}

interface ResourceList {
  data: FoundResource[]
  /** False if there are more than fit on a page. */
  complete: boolean
}

interface CountedList extends ResourceList {
  total: number
}

async function listResources(connection: Connection, list: Route, query: Body): Promise<CountedList> {
  const { data, pagination } = (await call(connection, list, { query })) as unknown as {
    data: FoundResource[]
    pagination: { total: number }
  }
  return { data, total: pagination.total, complete: pagination.total <= data.length }
}

const listByLabel = (connection: Connection, list: Route, label: string, value: string): Promise<CountedList> =>
  listResources(connection, list, { [label]: value, limit: 10 })

/** Throws if several resources match, or none and `otherwise` returns nothing. */
async function findOnly(
  connection: Connection,
  lists: readonly Route[],
  query: NameQuery,
  otherwise?: (others: ResourceList, value: string) => FoundResource | undefined,
): Promise<FoundResource> {
  const { label, value } = query
  const pages = await Promise.all(lists.map((list) => listByLabel(connection, list, label, value)))
  const found = pages.flatMap(({ data }) => data)
  const [first, second] = found
  if (first && second)
    throw createAmbiguousNameError(
      await replaceIdentifiers(connection, found),
      pages.reduce((sum, { total }) => sum + total, 0),
      query,
    )
  if (first) return first
  const others = await Promise.all(lists.map((list) => listResources(connection, list, { limit: MAX_LISTED })))
  const all = { data: others.flatMap(({ data }) => data), complete: others.every(({ complete }) => complete) }
  const known = otherwise?.(all, value)
  if (known) return known
  throw createUnknownNameError(
    query,
    all.data.flatMap((resource) =>
      [resource[label], 'provider' in resource ? resource.model_id : undefined].filter((name) => typeof name === 'string'),
    ),
  )
}

/** References shown by name when several resources match. */
const DISTINGUISHING_FIELDS = ['model_id', 'agent_id', 'knowledge_source_id']

async function replaceIdentifiers(connection: Connection, found: readonly FoundResource[]): Promise<FoundResource[]> {
  const names = await fetchNames(
    connection,
    found.flatMap((resource) => DISTINGUISHING_FIELDS.map((field) => String(resource[field]))),
  )
  const replaced = (resource: FoundResource) =>
    DISTINGUISHING_FIELDS.flatMap((field) => (field in resource ? [[field, names.get(String(resource[field])) ?? resource[field]]] : []))
  return found.map((resource) => ({ ...resource, ...Object.fromEntries(replaced(resource)) }))
}
