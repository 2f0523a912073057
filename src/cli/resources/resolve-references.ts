/** Resolves names to IDs. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import type { Route } from '../../contract/route.ts'
import type { Pagination } from '../../contract/schemas/list-query.ts'
import type { Body } from '../input/input-reader.ts'
import { createAmbiguousNameError, createUnknownNameError, type FoundResource, type NameQuery } from './name-errors.ts'
import { IDENTIFIER, KINDS, type Kind, LOAD_LIST_ROUTE } from './resource-kinds.ts'
import { fetchNames } from './resource-names.ts'
import type { References, Topic } from './topic.ts'

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
    if (typeof value === 'string') resolved[field] = await resolveName(connection, kinds, value, keepUnknown)
    else if (Array.isArray(value))
      resolved[field] = await Promise.all(
        value.map((item: unknown) => (typeof item === 'string' ? resolveName(connection, kinds, item, keepUnknown) : item)),
      )
  }
  return resolved
}

/** Returns the ID of the resource of one of these kinds with this name or ID. */
export async function resolveName(connection: Connection, kinds: readonly Kind[], value: string, keepUnknown = false): Promise<string> {
  if (IDENTIFIER.test(value)) return value
  const lists = await Promise.all(kinds.map((kind) => LOAD_LIST_ROUTE[kind]()))
  const query = { value, noun: formatNoun(kinds), label: 'name', commands: kinds.map((kind) => KINDS[kind].command) }
  const canSend = (known: ResourceList) => keepUnknown || (kinds.includes('model') && isProviderModel(known, value))
  return findId(connection, lists, query, canSend)
}

/** The three kinds of tool together are called tool. */
function formatNoun(kinds: readonly Kind[]): string {
  const nouns = kinds.map((kind) => KINDS[kind].noun)
  return nouns.length > 1 && nouns.every((noun) => noun.endsWith('tool')) ? 'tool' : nouns.join(' or ')
}

/** The service also accepts the provider's model name, and reports invalid IDs itself. */
const isProviderModel = ({ data, total }: ResourceList, value: string): boolean =>
  total > data.length || value.startsWith('model_') || data.some(({ model_id }) => model_id === value)

const MAX_LISTED = 100

/** Returns the ID of the resource with this name or ID. */
export async function resolveResource(connection: Connection, topic: Topic, value: string): Promise<string> {
  const { family, label, command, alternatives = [] } = topic
  if (label === undefined || IDENTIFIER.test(value)) return value
  // The service reports malformed IDs itself.
  const canSend = () => value.startsWith(`${family.prefix}_`)
  const lists = [topic, ...alternatives].map(({ routes }) => routes.list)
  return findId(connection, lists, { value, noun: alternatives.length > 0 ? 'tool' : family.noun, label, commands: [command] }, canSend)
}

/** Whether a resource has this name or ID. */
export async function hasResource(connection: Connection, { routes, label = 'name', family }: Topic, value: string): Promise<boolean> {
  if (IDENTIFIER.test(value)) return value.startsWith(`${family.prefix}_`)
  return value.trim() !== '' && (await listByLabel(connection, [routes.list], label, value)).total > 0
}

/** Other resources with the same name, newest first. */
export async function listNamesakes(
  connection: Connection,
  { routes, label }: Topic,
  { id, ...resource }: FoundResource,
): Promise<FoundResource[]> {
  const name = label === undefined ? undefined : resource[label]
  if (label === undefined || typeof name !== 'string' || name === '') return []
  return (await listByLabel(connection, [routes.list], label, name)).data.filter((other) => other.id !== id)
}

/** The resources on the first page, and the number of all. */
interface ResourceList {
  data: FoundResource[]
  total: number
}

async function listResources(connection: Connection, lists: readonly Route[], query: Body): Promise<ResourceList> {
  const responses = (await Promise.all(lists.map((list) => call(connection, list, { query })))) as unknown as {
    data: FoundResource[]
    pagination: Pagination
  }[]
  return {
    data: responses.flatMap(({ data }) => data),
    total: responses.reduce((sum, { pagination }) => sum + pagination.total, 0),
  }
}

const listByLabel = (connection: Connection, lists: readonly Route[], label: string, value: string): Promise<ResourceList> =>
  listResources(connection, lists, { [label]: value, limit: 10 })

/** Throws if several resources match, or none and the value cannot be sent as it is. */
async function findId(
  connection: Connection,
  lists: readonly Route[],
  query: NameQuery,
  canSend: (known: ResourceList) => boolean,
): Promise<string> {
  const { label, value } = query
  const { data, total } = await listByLabel(connection, lists, label, value)
  const [first, second] = data
  if (first && second) throw createAmbiguousNameError(await replaceIdentifiers(connection, data), total, query)
  if (first) return first.id
  const known = await listResources(connection, lists, { limit: MAX_LISTED })
  if (canSend(known)) return value
  throw createUnknownNameError(
    query,
    known.data.flatMap((resource) =>
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
