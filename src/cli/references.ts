/** Names in place of identifiers: finds the one resource that a name means. */
import { call } from '../client/call.ts'
import type { Connection } from '../client/request.ts'
import { CadreError } from '../contract/errors.ts'
import type { Route } from '../contract/route.ts'
import { UsageError } from './failure.ts'
import type { Body } from './input.ts'

/** Kinds of resources that others refer to, by the word the contract uses for them. Each is loaded when a name has to be looked up. */
const KINDS = {
  agent: { command: 'agents', noun: 'agent', list: async (): Promise<Route> => (await import('../contract/agents.ts')).agentRoutes.list },
  model: { command: 'models', noun: 'model', list: async (): Promise<Route> => (await import('../contract/models.ts')).modelRoutes.list },
  prompt_template: {
    command: 'prompts',
    noun: 'prompt template',
    list: async (): Promise<Route> => (await import('../contract/prompt-templates.ts')).promptTemplateRoutes.list,
  },
  knowledge_source: {
    command: 'knowledge',
    noun: 'knowledge source',
    list: async (): Promise<Route> => (await import('../contract/knowledge-sources.ts')).knowledgeSourceRoutes.list,
  },
  rag_tool: { command: 'rag', noun: 'RAG tool', list: async (): Promise<Route> => (await import('../contract/rag-tools.ts')).ragToolRoutes.list },
  retrieval_tool: {
    command: 'retrieval',
    noun: 'retrieval tool',
    list: async (): Promise<Route> => (await import('../contract/retrieval-tools.ts')).retrievalToolRoutes.list,
  },
  api_tool: { command: 'tools', noun: 'API tool', list: async (): Promise<Route> => (await import('../contract/api-tools.ts')).apiToolRoutes.list },
  evaluation: {
    command: 'evaluations',
    noun: 'evaluation',
    list: async (): Promise<Route> => (await import('../contract/evaluations.ts')).evaluationRoutes.list,
  },
}
export type Kind = keyof typeof KINDS

/** What a field refers to; for some it depends on another field of the same body. */
export type Reference = readonly Kind[] | ((body: Body) => readonly Kind[])
export type References = Readonly<Record<string, Reference>>

/** A field whose kind another field names. Without that field any of them may be meant; a word of its own (a user, say) is none. */
export const kindNamedBy =
  (field: string, kinds: readonly Kind[]) =>
  (body: Body): readonly Kind[] =>
    body[field] === undefined ? kinds : kinds.filter((kind) => kind === body[field])

const IDENTIFIER = /^[a-z]+_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

interface Found {
  id: string
  [field: string]: unknown
}

/** Identifiers in place of names in the fields that refer to something. */
export async function resolveReferences(connection: Connection, references: References, body: Body): Promise<Body> {
  const resolved = { ...body }
  for (const [field, reference] of Object.entries(references)) {
    const kinds = typeof reference === 'function' ? reference(body) : reference
    const value = body[field]
    if (kinds.length === 0) continue
    if (typeof value === 'string') resolved[field] = await resolveKind(connection, kinds, value)
    else if (Array.isArray(value))
      resolved[field] = await Promise.all(value.map((one: unknown) => (typeof one === 'string' ? resolveKind(connection, kinds, one) : one)))
  }
  return resolved
}

async function resolveKind(connection: Connection, kinds: readonly Kind[], value: string): Promise<string> {
  if (IDENTIFIER.test(value)) return value
  const found = (await Promise.all(kinds.map(async (kind) => byLabel(connection, await KINDS[kind].list(), 'name', value)))).flat()
  // The service knows a model by its provider's name too, where that is unique.
  if (found.length === 0 && kinds.includes('model')) return value
  const nouns = kinds.map((kind) => KINDS[kind].noun).join(' or ')
  return only(
    found,
    value,
    nouns,
    kinds.map((kind) => KINDS[kind].command),
  ).id
}

const NAMES_A_PAGE = 100

/** Names of resources by their identifiers, as far as there are any; those that were deleted have none. */
export async function namesOf(connection: Connection, kind: Kind, ids: readonly string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  if (ids.length === 0) return names
  const list = await KINDS[kind].list()
  const { data, pagination } = (await call(connection, list, { query: { limit: NAMES_A_PAGE } })) as unknown as { data: Found[]; pagination: { total: number } }
  for (const { id, name } of data) if (ids.includes(id)) names.set(id, String(name))
  if (pagination.total <= data.length) return names
  // Too many for one page: those that were not on it are asked for one by one.
  const missing = ids.filter((id) => !names.has(id) && IDENTIFIER.test(id))
  for (const id of missing) for (const { name } of await byLabel(connection, list, 'id', id)) names.set(id, String(name))
  return names
}

/** A family whose resources people call by a field of theirs. */
interface Named {
  command: string
  family: { noun: string; prefix: string }
  routes: { list: Route }
  label?: string
}

/** The identifier of the resource that people call by this name, or the identifier itself. */
export async function resolveOwn(connection: Connection, { family, routes, label, command }: Named, value: string): Promise<string> {
  if (label === undefined || IDENTIFIER.test(value)) return value
  const found = await byLabel(connection, routes.list, label, value)
  // What looks like an identifier of ours but is none gets the service's own answer.
  if (found.length === 0 && value.startsWith(`${family.prefix}_`)) return value
  return only(found, value, family.noun, [command]).id
}

async function byLabel(connection: Connection, list: Route, label: string, value: string): Promise<Found[]> {
  const answer = (await call(connection, list, { query: { [label]: value, limit: 10 } })) as { data: Found[] }
  return answer.data
}

function only(found: readonly Found[], value: string, noun: string, commands: readonly string[]): Found {
  const [first, second] = found
  if (first && !second) return first
  if (first) throw new UsageError(`"${value}" is the name of several: ${found.map(({ id }) => id).join(', ')}.`, 'Use the identifier of the one you mean.')
  throw new CadreError('NOT_FOUND', `There is no ${noun} "${value}".`, {
    hint: `${commands.map((command) => `cadre ${command} list`).join(' or ')} shows what there is.`,
  })
}
