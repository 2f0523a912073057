/** Loads the current resources, by name. */
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import type { Caller } from '../core/caller.ts'
import type { Resource } from '../crud/resource.ts'
import type { DatabaseReader } from '../store/database.ts'
import { listFileKeys } from '../store/file-keys.ts'
import type { StoredRecord } from '../store/records.ts'
import { shortHash } from './file-names.ts'
import { type Fields, KINDS, type Kind, type ManagedResource } from './kinds.ts'
import { isAllowed } from './permission.ts'
import { getPlainFields } from './record-fields.ts'
import { type Entry, ResourceDirectory } from './references.ts'
import { listThresholdNames } from './threshold-names.ts'

export type ManagedService = Resource<StoredRecord, object, unknown>

const MAX_RECORDS = 1_000_000

export interface NamedRecord {
  /** Includes the key if the name alone is ambiguous. */
  name: string
  /** Undefined unless the name alone is ambiguous. */
  key: string | undefined
  record: StoredRecord
}

/** Identifies the resource that a file declares. */
export interface Identity {
  name: string
  key: string | undefined
  /** Keys in other files with this name. */
  otherKeys: ReadonlySet<string>
}

export interface Inventory {
  directory: ResourceDirectory
  list(kind: Kind): readonly NamedRecord[]
  /** Finds the resource that a file declares. */
  find(kind: Kind, identity: Identity): { record: StoredRecord; entry: Entry } | undefined
}

/** Loads the families that the caller may list. */
export async function loadInventory(
  reader: DatabaseReader,
  resources: ReadonlyMap<ManagedResource, ManagedService>,
  caller: Caller,
): Promise<Inventory> {
  const directory = new ResourceDirectory()
  const keys = await listFileKeys(reader)
  const all = new Map<ManagedResource, NamedRecord[]>()
  const records = new Map<string, StoredRecord>()
  for (const kind of KINDS.filter((kind) => isAllowed('list', kind, caller))) {
    const namedRecords = await listNamedRecords(reader, kind, resources.get(kind.name) as ManagedService, directory)
    for (const { name, record } of namedRecords) {
      const key = keys.get(record.id)
      directory.add({ family: kind.name, id: record.id, name, key: key ?? createDefaultKey(record.id), hasFileKey: key !== undefined })
      records.set(record.id, record)
    }
    all.set(
      kind.name,
      namedRecords.map(({ record }) => ({ name: directory.getLabel(record.id), key: directory.findRequiredKey(record.id), record })),
    )
  }
  return {
    directory,
    list: (kind) => all.get(kind.name) ?? [],
    find(kind, identity) {
      const entry = findEntry(directory.listByName(kind.name, identity.name), identity)
      return entry && { entry, record: records.get(entry.id) as StoredRecord }
    },
  }
}

/**
 * Finds an entry by its key. Without a key, skips entries that other files declare, and prefers the oldest one without a key from
 * a file.
 */
function findEntry(candidates: readonly Entry[], { key, otherKeys }: Identity): Entry | undefined {
  if (key !== undefined) return candidates.find((entry) => entry.key === key)
  const remaining = candidates.filter((entry) => !otherKeys.has(entry.key))
  return remaining.find(({ hasFileKey }) => !hasFileKey) ?? (remaining.length === 1 ? remaining[0] : undefined)
}

/** The key of a resource without one from a file: unique and stable. */
export const createDefaultKey = (id: string): string => shortHash(id)

async function listNamedRecords(
  reader: DatabaseReader,
  kind: Kind,
  resource: ManagedService,
  directory: ResourceDirectory,
): Promise<{ name: string; record: StoredRecord }[]> {
  // The embedded model exists in every home and cannot be changed.
  const editable = (await resource.records.find(reader, {}, MAX_RECORDS)).filter(({ id }) => id !== EMBEDDED_MODEL_ID)
  const records = editable.sort((a, b) => (a.id < b.id ? -1 : 1)) // ids start with the time of creation
  const names = listNames(
    kind,
    records.map((record) => (kind.label ? (record as unknown as Fields) : getPlainFields(kind, record, directory))),
  )
  return records.map((record, index) => ({ name: names[index] as string, record }))
}

export function listNames({ label }: Kind, all: readonly Fields[]): string[] {
  return label ? all.map((fields) => String(fields[label])) : listThresholdNames(all)
}
