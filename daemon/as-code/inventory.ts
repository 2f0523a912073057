/** What there is now, by name. */

import type { Family } from '../../src/contract/crud.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID } from '../../src/contract/models.ts'
import type { Caller } from '../caller.ts'
import type { Reader, Transaction } from '../store/database.ts'
import type { StoredRecord } from '../store/records.ts'
import { type Fields, KINDS, type Kind, type ManagedResource } from './kinds.ts'
import { mayDo } from './permission.ts'
import { Directory } from './references.ts'
import { thresholdNames } from './thresholds.ts'
import { plainFields } from './writing.ts'

/** A family's service, as far as it takes part in a larger change. */
export interface Managed {
  readonly family: Family
  readonly records: { find(reader: Reader, scope: object, limit: number): Promise<StoredRecord[]> }
  createWithin(transaction: Transaction, caller: Caller, input: object): Promise<{ stored: StoredRecord }>
  updateWithin(transaction: Transaction, caller: Caller, current: StoredRecord, input: object): Promise<{ stored: StoredRecord }>
  removeWithin(transaction: Transaction, record: StoredRecord, force: boolean): Promise<void>
  followUp(change: { changed?: readonly StoredRecord[]; removed?: readonly StoredRecord[] }): Promise<void>
  sameSecret(field: string, one: StoredRecord, other: StoredRecord): boolean
}

const ALL = 1_000_000

export interface Named {
  name: string
  record: StoredRecord
}

export interface Inventory {
  directory: Directory
  of(kind: Kind): readonly Named[]
  /** The one that is called so. Several would all be meant by one file. */
  one(kind: Kind, name: string): StoredRecord | undefined
}

/** As far as the caller may see it. */
export async function takeInventory(reader: Reader, resources: ReadonlyMap<ManagedResource, Managed>, caller: Caller): Promise<Inventory> {
  const directory = new Directory()
  const all = new Map<ManagedResource, Named[]>()
  const records = new Map<string, StoredRecord>()
  for (const kind of KINDS.filter((one) => mayDo('list', one, caller))) {
    const named = await namedRecords(reader, kind, resources.get(kind.name) as Managed, directory)
    for (const { name, record } of named) {
      directory.add(kind.name, record.id, name)
      records.set(record.id, record)
    }
    all.set(kind.name, named)
  }
  return {
    directory,
    of: (kind) => all.get(kind.name) ?? [],
    one(kind, name) {
      const ids = directory.called(kind.name, name)
      if (ids.length > 1) throw ambiguous(kind, name, ids)
      return records.get(ids[0] ?? '')
    },
  }
}

async function namedRecords(reader: Reader, kind: Kind, resource: Managed, directory: Directory): Promise<Named[]> {
  // The embedded model is part of every home, and cannot be changed.
  const records = (await resource.records.find(reader, {}, ALL)).filter(({ id }) => id !== EMBEDDED_MODEL_ID)
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

const ambiguous = ({ family: { noun }, label }: Kind, name: string, ids: readonly string[]): CadreError =>
  new CadreError('CONFLICT', `${ids.length} ${noun}s have the ${label} "${name}" (${ids.join(', ')}), and a file is found again by that.`, {
    hint: `Give each its own ${label}.`,
  })
