/** What there is now, by name. */

import type { Family } from '../../src/contract/crud.ts'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import type { Caller } from '../core/caller.ts'
import type { Reader, Transaction } from '../store/database.ts'
import { listFileKeys } from '../store/file-keys.ts'
import type { StoredRecord } from '../store/records.ts'
import { short } from './file-names.ts'
import { type Fields, KINDS, type Kind, type ManagedResource } from './kinds.ts'
import { mayDo } from './permission.ts'
import { Directory, type Entry } from './references.ts'
import { thresholdNames } from './thresholds.ts'
import { plainFields } from './writing.ts'

/** A family's service, as far as it takes part in a larger change. */
export interface Managed {
  readonly family: Family
  readonly records: { find(reader: Reader, scope: object, limit: number): Promise<StoredRecord[]> }
  createInTransaction(transaction: Transaction, caller: Caller, input: object): Promise<{ stored: StoredRecord }>
  updateInTransaction(transaction: Transaction, caller: Caller, current: StoredRecord, input: object): Promise<{ stored: StoredRecord }>
  removeInTransaction(transaction: Transaction, record: StoredRecord, force: boolean): Promise<void>
  runAfterHooks(change: { changed?: readonly StoredRecord[]; removed?: readonly StoredRecord[] }): Promise<void>
  hasSameSecret(field: string, one: StoredRecord, other: StoredRecord): boolean
}

const ALL = 1_000_000

export interface Named {
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
  others: ReadonlySet<string>
}

export interface Inventory {
  directory: Directory
  of(kind: Kind): readonly Named[]
  /** The one that a file is about. */
  one(kind: Kind, identity: Identity): { record: StoredRecord; entry: Entry } | undefined
}

/** As far as the caller may see it. */
export async function takeInventory(reader: Reader, resources: ReadonlyMap<ManagedResource, Managed>, caller: Caller): Promise<Inventory> {
  const directory = new Directory()
  const keys = await listFileKeys(reader)
  const all = new Map<ManagedResource, Named[]>()
  const records = new Map<string, StoredRecord>()
  for (const kind of KINDS.filter((one) => mayDo('list', one, caller))) {
    const named = await namedRecords(reader, kind, resources.get(kind.name) as Managed, directory)
    for (const { name, record } of named) {
      const key = keys.get(record.id)
      directory.add({ family: kind.name, id: record.id, name, key: key ?? ownKey(record.id), given: key !== undefined })
      records.set(record.id, record)
    }
    all.set(
      kind.name,
      named.map(({ record }) => ({ name: directory.label(record.id), key: directory.keyOf(record.id), record })),
    )
  }
  return {
    directory,
    of: (kind) => all.get(kind.name) ?? [],
    one(kind, identity) {
      const entry = entryOf(directory.called(kind.name, identity.name), identity)
      return entry && { entry, record: records.get(entry.id) as StoredRecord }
    },
  }
}

/** By its key; by the name alone the oldest that no file gave one, or else the only one, of those that no other file is about. */
function entryOf(called: readonly Entry[], { key, others }: Identity): Entry | undefined {
  if (key !== undefined) return called.find((entry) => entry.key === key)
  const left = called.filter((entry) => !others.has(entry.key))
  return left.find(({ given }) => !given) ?? (left.length === 1 ? left[0] : undefined)
}

/** The key of one that no file gave another: nobody else's, and always the same. */
export const ownKey = (id: string): string => short(id)

async function namedRecords(
  reader: Reader,
  kind: Kind,
  resource: Managed,
  directory: Directory,
): Promise<{ name: string; record: StoredRecord }[]> {
  // The embedded model is part of every home, and cannot be changed.
  const found = (await resource.records.find(reader, {}, ALL)).filter(({ id }) => id !== EMBEDDED_MODEL_ID)
  const records = found.sort((a, b) => (a.id < b.id ? -1 : 1)) // identifiers begin with the time at which they were made
  const names = namesOf(
    kind,
    records.map((record) => (kind.label ? (record as unknown as Fields) : plainFields(kind, record, directory))),
  )
  return records.map((record, index) => ({ name: names[index] as string, record }))
}

/** What each is called; thresholds by what they count. */
export function namesOf({ label }: Kind, all: readonly Fields[]): string[] {
  return label ? all.map((fields) => String(fields[label])) : thresholdNames(all)
}
