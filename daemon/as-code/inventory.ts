/** What there is now, by name. */

import type { Family } from '../../src/contract/crud.ts'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import type { Caller } from '../core/caller.ts'
import type { Reader, Transaction } from '../store/database.ts'
import { listFileKeys } from '../store/file-keys.ts'
import type { StoredRecord } from '../store/records.ts'
import { shortHash } from './file-names.ts'
import { type Fields, KINDS, type Kind, type ManagedResource } from './kinds.ts'
import { isAllowed } from './permission.ts'
import { getPlainFields } from './record-fields.ts'
import { type Entry, ResourceDirectory } from './references.ts'
import { listThresholdNames } from './threshold-names.ts'

/** A family's service, as far as it takes part in a larger change. */
export interface ManagedService {
  readonly family: Family
  readonly records: { find(reader: Reader, scope: object, limit: number): Promise<StoredRecord[]> }
  createInTransaction(transaction: Transaction, caller: Caller, input: object): Promise<{ stored: StoredRecord }>
  updateInTransaction(transaction: Transaction, caller: Caller, current: StoredRecord, input: object): Promise<{ stored: StoredRecord }>
  removeInTransaction(transaction: Transaction, record: StoredRecord, force: boolean): Promise<void>
  runAfterHooks(change: { changed?: readonly StoredRecord[]; removed?: readonly StoredRecord[] }): Promise<void>
  hasSameSecret(field: string, one: StoredRecord, other: StoredRecord): boolean
}

const MAX_RECORDS = 1_000_000

export interface NamedRecord {
  /** With its key where the name alone means another. */
  name: string
  /** Only where it is needed. */
  key: string | undefined
  record: StoredRecord
}

/** What a file says that it is about. */
export interface Identity {
  name: string
  /** Of the name alone, undefined. */
  key: string | undefined
  /** Keys that other files of this name have. */
  otherKeys: ReadonlySet<string>
}

export interface Inventory {
  directory: ResourceDirectory
  list(kind: Kind): readonly NamedRecord[]
  /** The one that a file is about. */
  find(kind: Kind, identity: Identity): { record: StoredRecord; entry: Entry } | undefined
}

/** As far as the caller may see it. */
export async function loadInventory(
  reader: Reader,
  resources: ReadonlyMap<ManagedResource, ManagedService>,
  caller: Caller,
): Promise<Inventory> {
  const directory = new ResourceDirectory()
  const keys = await listFileKeys(reader)
  const all = new Map<ManagedResource, NamedRecord[]>()
  const records = new Map<string, StoredRecord>()
  for (const kind of KINDS.filter((one) => isAllowed('list', one, caller))) {
    const named = await listNamedRecords(reader, kind, resources.get(kind.name) as ManagedService, directory)
    for (const { name, record } of named) {
      const key = keys.get(record.id)
      directory.add({ family: kind.name, id: record.id, name, key: key ?? createDefaultKey(record.id), hasFileKey: key !== undefined })
      records.set(record.id, record)
    }
    all.set(
      kind.name,
      named.map(({ record }) => ({ name: directory.getLabel(record.id), key: directory.findRequiredKey(record.id), record })),
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

/** By its key; by the name alone the oldest that no file gave one, or else the only one, of those that no other file is about. */
function findEntry(called: readonly Entry[], { key, otherKeys: others }: Identity): Entry | undefined {
  if (key !== undefined) return called.find((entry) => entry.key === key)
  const left = called.filter((entry) => !others.has(entry.key))
  return left.find(({ hasFileKey: given }) => !given) ?? (left.length === 1 ? left[0] : undefined)
}

/** The key of one that no file gave another: nobody else's, and always the same. */
export const createDefaultKey = (id: string): string => shortHash(id)

async function listNamedRecords(
  reader: Reader,
  kind: Kind,
  resource: ManagedService,
  directory: ResourceDirectory,
): Promise<{ name: string; record: StoredRecord }[]> {
  // The embedded model is part of every home, and cannot be changed.
  const found = (await resource.records.find(reader, {}, MAX_RECORDS)).filter(({ id }) => id !== EMBEDDED_MODEL_ID)
  const records = found.sort((a, b) => (a.id < b.id ? -1 : 1)) // identifiers begin with the time at which they were made
  const names = listNames(
    kind,
    records.map((record) => (kind.label ? (record as unknown as Fields) : getPlainFields(kind, record, directory))),
  )
  return records.map((record, index) => ({ name: names[index] as string, record }))
}

/** What each is called; thresholds by what they count. */
export function listNames({ label }: Kind, all: readonly Fields[]): string[] {
  return label ? all.map((fields) => String(fields[label])) : listThresholdNames(all)
}
