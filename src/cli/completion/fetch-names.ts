/** Finds the names of resources and profiles. Loads nothing of the contract, because completion must be fast. */
import { findDaemonProcess, resolveAddress, resolveCredentials } from '../../client/address.ts'
import type { Page as AnyPage } from '../../client/paginate.ts'
import { LOCAL_PROFILE, readProfiles } from '../../client/profiles.ts'
import { type Connection, fetchJson } from '../../client/request.ts'
import { homePaths, type Paths } from '../../config.ts'
import { type Kind, NAME_KINDS, type ResourceKind } from './name-kinds.ts'
import type { Candidate } from './plan-completion.ts'

const TIMEOUT_MS = 2_000
const PAGE_SIZE = 100
/** More names are not useful in a list. */
const MAX_PAGES = 10

type Resource = Record<string, unknown> & { id: string }
type Page = AnyPage<Resource>

/** Returns no names of resources if no daemon is running; completion does not start one. */
export async function fetchNames(
  kinds: readonly Kind[],
  prefix: string,
  { profile, parent = '' }: { profile?: string | undefined; parent?: string | undefined } = {},
): Promise<Candidate[]> {
  const paths = homePaths()
  if (kinds.includes('profile')) return listProfiles(paths)
  const address = resolveAddress(paths, profile)
  const url = address.url ?? findDaemonProcess(paths)?.url
  if (url === undefined) return []
  const credentials = await resolveCredentials(paths, address, url, () => undefined)
  const service = { url, ...credentials }
  const lists = await Promise.all(
    kinds
      .filter((kind) => kind !== 'profile')
      .map((kind) => (kind === 'table' ? listTables(service, parent) : listCandidates(service, kind, prefix)).catch(() => [])),
  )
  return lists.flat()
}

const listProfiles = (paths: Paths): Candidate[] => [
  { value: LOCAL_PROFILE, description: 'The daemon of this machine' },
  ...Object.entries(readProfiles(paths).profiles).map(([value, { url }]) => ({ value, description: url })),
]

type Service = Pick<Connection, 'url' | 'token' | 'agent'>

const readJson = async <T>(service: Service, path: string): Promise<T> => (await fetchJson(service, `/api${path}`, TIMEOUT_MS)) as T

/** Lists the tables of the source that the argument before names. */
async function listTables(service: Service, source: string): Promise<Candidate[]> {
  const { path } = NAME_KINDS.source
  const { data } = await readJson<Page>(service, `${path}?limit=1&name=${encodeURIComponent(source)}`)
  const id = source.startsWith(`${NAME_KINDS.source.prefix}_`) ? source : (data[0]?.id ?? '')
  const { data: found } = await readJson<{ data: { tables: { name: string; document: string }[] } }>(service, `${path}/${id}/tables`)
  return found.tables.map(({ name, document }) => ({ value: name, description: document }))
}

async function listCandidates(service: Service, kind: ResourceKind, prefix: string): Promise<Candidate[]> {
  const { path, label, detail, prefix: idPrefix } = NAME_KINDS[kind]
  const order = label === 'title' ? 'sort=updated_at&order=desc' : `sort=${label}&order=asc`
  const read = (page: number) => readJson<Page>(service, `${path}?limit=${PAGE_SIZE}&page=${page}&${order}`)
  const first = await read(1)
  // Older conversations are found with a search, not by their titles.
  const pages = label === 'title' ? 1 : Math.min(first.pagination.pages, MAX_PAGES)
  const others = await Promise.all(Array.from({ length: pages - 1 }, (_, index) => read(index + 2)))
  const resources = [first, ...others].flatMap(({ data }) => data)
  return toNames(resources, label, detail, prefix.startsWith(`${idPrefix}_`))
}

/** Resources without a usable name, and those that share one, are completed by ID. */
export function toNames(resources: readonly Resource[], label: string, detail: string, wantsIds: boolean): Candidate[] {
  const counts = new Map<unknown, number>()
  for (const { [label]: name } of resources) counts.set(name, (counts.get(name) ?? 0) + 1)
  return resources.map((resource) => {
    const name = resource[label]
    if (!wantsIds && isUsable(name) && counts.get(name) === 1) return { value: name, description: toText(resource[detail]) }
    return { value: resource.id, description: toText(name) }
  })
}

const isUsable = (name: unknown): name is string =>
  typeof name === 'string' && name.trim() !== '' && !/^-|[\p{Cc}\p{Cf}]|^[a-z]+_[0-9a-f]{8}-/u.test(name)

const toText = (value: unknown): string => (typeof value === 'string' ? value : '')
