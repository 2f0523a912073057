/** What every family of resources does alike: list, get, create, update and delete, with paging, references and not-found. */
import { isDeepStrictEqual } from 'node:util'
import type { Family } from '../../src/contract/crud.ts'
import { CadreError, notFound } from '../../src/contract/errors.ts'
import type { ListQuery } from '../../src/contract/page.ts'
import { fieldsOf, initialValue } from '../../src/contract/schema.ts'
import type { Caller, Change } from '../core/caller.ts'
import { changedMeanwhile, requireSeen } from '../core/etag.ts'
import { newId } from '../core/identifiers.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import { forgetFileKey } from '../store/file-keys.ts'
import { detachAll, type Reference, replaceLinks, usersOf } from '../store/links.ts'
import type { Page, Records, Scope, StoredRecord } from '../store/records.ts'

export interface Situation<Stored> {
  transaction: Transaction
  caller: Caller
  /** What is stored now; undefined while it is being created. */
  current: Stored | undefined
}

/** What a family adds of its own. */
export interface Rules<Stored extends StoredRecord, Input, Shown> {
  /** Checks what is about to be stored, and completes it. `given` holds just what the caller sent. */
  prepare?(record: Stored, given: Input, situation: Situation<Stored>): Promise<Stored>
  references?(record: Stored): Reference[]
  /** What callers see of a record; without it, the resource's own fields. */
  show?(reader: Reader, record: Stored): Promise<Shown>
  /** What the caller may see at all. */
  scope?(caller: Caller): Scope
  label?(record: Stored): string
  /** Follows up on a record that was created or changed, once it is stored for good. */
  after?(record: Stored): void | Promise<void>
  /** Takes along what belongs to a record that goes. */
  remove?(transaction: Transaction, record: Stored): Promise<void>
  /** Follows up on a record that is gone for good. */
  removed?(record: Stored): void | Promise<void>
  /** What its sealed fields hold, by the field they were given in: to compare, and never to show. */
  opened?(record: Stored): Record<string, unknown>
}

export class Resource<Stored extends StoredRecord, Input extends object = object, Shown = Stored> {
  readonly family: Family
  readonly records: Records<Stored>
  readonly database: Database
  readonly #rules: Rules<Stored, Input, Shown>
  readonly #shown: readonly string[]
  readonly #listed: readonly string[]

  constructor(database: Database, family: Family, records: Records<Stored>, rules: Rules<Stored, Input, Shown> = {}) {
    this.database = database
    this.family = family
    this.records = records
    this.#rules = rules
    this.#shown = Object.keys(fieldsOf(family.resource))
    this.#listed = Object.keys(fieldsOf(family.item))
  }

  async list(caller: Caller, query: ListQuery): Promise<Page<Stored>> {
    return this.records.list(this.database, query, this.#scope(caller), this.#listed)
  }

  async get(caller: Caller, id: string): Promise<Shown> {
    return this.#show(this.database, await this.require(this.database, caller, id))
  }

  /** As callers see it, without secrets; undefined where there is none. */
  async shown(reader: Reader, id: string): Promise<Shown | undefined> {
    const record = await this.records.get(reader, id)
    return record && this.#show(reader, record)
  }

  /** `once` is shown in this reply and never again. */
  async create<Once extends object = object>(change: Change, input: Input, once?: Once): Promise<Shown & Once> {
    const { stored, shown } = await this.database.write(async (transaction) => {
      const { stored, shown: plain } = await this.createWithin(transaction, change.caller, input)
      const shown = { ...plain, ...once } as Shown & Once
      await change.remember?.(transaction, shown)
      return { stored, shown }
    })
    await this.#rules.after?.(stored)
    return shown
  }

  /** What is to change may depend on what is there. */
  async update(change: Change, id: string, input: Input | ((current: Stored) => Input)): Promise<Shown> {
    return this.modify(change, id, async (current, transaction) =>
      this.#changed(transaction, change.caller, current, typeof input === 'function' ? input(current) : input),
    )
  }

  /** Changes a record in one transaction, over exactly the version that was read. `once` is shown in this reply and never again. */
  async modify<Once extends object = object>(
    change: Change,
    id: string,
    work: (current: Stored, transaction: Transaction) => Promise<Stored>,
    once?: Once,
  ): Promise<Shown & Once> {
    const { stored, shown } = await this.database.write(async (transaction) => {
      const current = await this.require(transaction, change.caller, id)
      await this.#unchanged(transaction, change, current)
      const { stored, shown: plain } = await this.#write(transaction, await work(current, transaction))
      const shown = { ...plain, ...once } as Shown & Once
      await change.remember?.(transaction, shown)
      return { stored, shown }
    })
    await this.#rules.after?.(stored)
    return shown
  }

  /** Writes a record over the version it was read as, and what it refers to. */
  async rewrite(transaction: Transaction, record: Stored): Promise<void> {
    if (!(await this.records.update(transaction, record))) throw changedMeanwhile(this.family.noun)
    await this.#link(transaction, record)
  }

  /** Creates one as part of a larger change, which has to follow up on it. */
  async createWithin(transaction: Transaction, caller: Caller, input: Input): Promise<{ stored: Stored; shown: Shown }> {
    const now = new Date().toISOString()
    const blank = Object.entries(fieldsOf(this.family.resource)).map(([name, schema]) => [name, initialValue(schema)])
    const draft = {
      ...Object.fromEntries(blank),
      ...input,
      id: newId(this.family.prefix),
      version: 1,
      created_at: now,
      updated_at: now,
    } as Stored
    const stored = await this.#prepared(draft, input, { transaction, caller, current: undefined })
    await this.records.insert(transaction, stored)
    await this.#link(transaction, stored)
    return { stored, shown: await this.#show(transaction, stored) }
  }

  /** Changes one as part of a larger change, which has to follow up on it. */
  async updateWithin(transaction: Transaction, caller: Caller, current: Stored, input: Input): Promise<{ stored: Stored; shown: Shown }> {
    return this.#write(transaction, await this.#changed(transaction, caller, current, input))
  }

  async remove(change: Change, id: string, force = false): Promise<string> {
    const record = await this.database.write(async (transaction) => {
      const record = await this.require(transaction, change.caller, id)
      await this.#unchanged(transaction, change, record)
      await this.removeWithin(transaction, record, force)
      return record
    })
    await this.#rules.removed?.(record)
    return `The ${this.family.noun} "${this.#label(record)}" was deleted.`
  }

  /** Removes one as part of a larger change, which has to follow up on it. */
  async removeWithin(transaction: Transaction, record: Stored, force: boolean): Promise<void> {
    const { users, total } = await usersOf(transaction, record.id)
    if (total > 0 && !force) throw inUse(`${this.family.noun} "${this.#label(record)}"`, users, total)
    await detachAll(transaction, record.id)
    await this.#rules.remove?.(transaction, record)
    await replaceLinks(transaction, this.#owner(record), [])
    await forgetFileKey(transaction, record.id)
    await this.records.delete(transaction, record.id)
  }

  /** What follows a larger change, once it is stored for good. */
  async followUp({ changed = [], removed = [] }: { changed?: readonly Stored[]; removed?: readonly Stored[] }): Promise<void> {
    for (const record of changed) await this.#rules.after?.(record)
    for (const record of removed) await this.#rules.removed?.(record)
  }

  /** Whether two states of a record hold the same secret in a field. */
  sameSecret(field: string, one: Stored, other: Stored): boolean {
    return isDeepStrictEqual(this.#rules.opened?.(one)[field], this.#rules.opened?.(other)[field])
  }

  /** The record, if the caller may see it. */
  async require(reader: Reader, caller: Caller, id: string): Promise<Stored> {
    const record = await this.records.get(reader, id, this.#scope(caller))
    if (!record) throw notFound(this.family.noun, id)
    return record
  }

  /** Throws where there is none that the caller may see. */
  async requireOne(reader: Reader, caller: Caller, id: string): Promise<void> {
    if (!(await this.records.has(reader, id, this.#scope(caller)))) throw notFound(this.family.noun, id)
  }

  exists(reader: Reader, id: string): Promise<boolean> {
    return this.records.has(reader, id)
  }

  #scope(caller: Caller): Scope {
    return this.#rules.scope?.(caller) ?? {}
  }

  async #changed(transaction: Transaction, caller: Caller, current: Stored, input: Input): Promise<Stored> {
    return this.#prepared({ ...current, ...input }, input, { transaction, caller, current })
  }

  async #write(transaction: Transaction, changed: Stored): Promise<{ stored: Stored; shown: Shown }> {
    const record = { ...changed, updated_at: new Date().toISOString() }
    await this.rewrite(transaction, record)
    const stored = { ...record, version: record.version + 1 }
    return { stored, shown: await this.#show(transaction, stored) }
  }

  async #prepared(draft: Stored, input: Input, situation: Situation<Stored>): Promise<Stored> {
    return this.#rules.prepare ? this.#rules.prepare(draft, input, situation) : draft
  }

  async #show(reader: Reader, record: Stored): Promise<Shown> {
    if (this.#rules.show) return this.#rules.show(reader, record)
    const shown: Record<string, unknown> = {}
    for (const name of this.#shown) shown[name] = (record as Record<string, unknown>)[name]
    return shown as Shown
  }

  async #unchanged(reader: Reader, change: Change, current: Stored): Promise<void> {
    if (change.ifMatch !== undefined) requireSeen(this.family.noun, change.ifMatch, await this.#show(reader, current))
  }

  #label(record: Stored): string {
    return this.#rules.label?.(record) ?? (record as { name?: string }).name ?? record.id
  }

  #owner(record: Stored) {
    return { family: this.family.name, id: record.id, name: this.#label(record) }
  }

  async #link(transaction: Transaction, record: Stored): Promise<void> {
    if (this.#rules.references) await replaceLinks(transaction, this.#owner(record), this.#rules.references(record))
  }
}

function inUse(what: string, users: { noun: string; id: string; name: string; field: string }[], total: number): CadreError {
  const named = users.slice(0, 3).map(({ noun, name, id }) => `${noun} "${name}" (${id})`)
  const more = total > named.length ? ` and ${total - named.length} more` : ''
  return new CadreError('CONFLICT', `The ${what} is used by ${named.join(', ')}${more}.`, {
    details: users.map(({ id, field, noun }) => ({ field: `${id}.${field}`, problem: `this ${noun} uses it` })),
    hint: 'Take it out of them first, or delete it with ?force=true (--force on the command line), which detaches it from them.',
  })
}
