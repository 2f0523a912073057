/** Fetches the names of resources by ID. */
import { call } from '../../client/call.ts'
import { type Page, paginate } from '../../client/paginate.ts'
import type { Connection } from '../../client/request.ts'
import type { Body } from '../input/input-reader.ts'
import { detectKind, IDENTIFIER, type Kind, LOAD_LIST_ROUTE } from './resource-kinds.ts'

const NAMES_PER_PAGE = 100
const MAX_SINGLE_LOOKUPS = 10

/** Omits deleted resources. */
export async function fetchNamesOfKind(connection: Connection, kind: Kind, ids: readonly string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  if (ids.length === 0) return names
  const list = await LOAD_LIST_ROUTE[kind]()
  const read = async (query: Body) => (await call(connection, list, { query })) as unknown as Page<{ id: string; name: unknown }>
  let missing: string[] = []
  // Pages through the list while many are missing, then fetches the rest one by one.
  for await (const { data, pagination } of paginate((page) => read({ limit: NAMES_PER_PAGE, page }))) {
    for (const { id, name } of data) if (ids.includes(id)) names.set(id, String(name))
    if (pagination.page >= pagination.pages) return names
    missing = ids.filter((id) => !names.has(id) && IDENTIFIER.test(id))
    if (missing.length <= MAX_SINGLE_LOOKUPS) break
  }
  for (const id of missing) for (const { name } of (await read({ id })).data) names.set(id, String(name))
  return names
}

/** Resources of any kind. Omits those the caller may not read. */
export async function fetchNames(connection: Connection, ids: readonly string[]): Promise<Map<string, string>> {
  const byKind = new Map<Kind, string[]>()
  for (const id of new Set(ids)) {
    const kind = detectKind(id)
    if (kind) byKind.set(kind, [...(byKind.get(kind) ?? []), id])
  }
  const found = await Promise.all(
    [...byKind].map(([kind, some]) => fetchNamesOfKind(connection, kind, some).catch(() => new Map<string, string>())),
  )
  return new Map(found.flatMap((names) => [...names]))
}
