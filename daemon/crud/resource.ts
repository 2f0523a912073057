/** What every family of resources does alike: list, get, create, update and delete, with paging, references and not-found. */
import { isDeepStrictEqual } from 'node:util'
import type { Family } from '../../src/contract/crud.ts'
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import { getFields, getInitialValue } from '../../src/contract/schemas/fields.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import { createStaleVersionError, requireMatchingEtag } from '../core/etag.ts'
import { generateId } from '../core/identifiers.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import { deleteFileKey } from '../store/file-keys.ts'
import { detachAll, listUsers, type Reference, replaceLinks } from '../store/links.ts'
import type { Page, Records, Scope, StoredRecord } from '../store/records.ts'

export interface PrepareContext<Stored> {
  transaction: Transaction
  caller: Caller
  /** What is stored now; undefined while it is being created. */
  current: Stored | undefined
}

/** What a family adds of its own. */
export interface ResourceHooks<Stored extends StoredRecord, Input, Shown> {
  /** Checks what is about to be stored, and completes it. `given` holds just what the caller sent. */
  prepare?(record: Stored, given: Input, situation: PrepareContext<Stored>): Promise<Stored>
  getReferences?(record: Stored): Reference[]
  /** What callers see of a record; without it, the resource's own fields. */
  toView?(reader: Reader, record: Stored): Promise<Shown>
  /** What the caller may see at all. */
  getScope?(caller: Caller): Scope
  getLabel?(record: Stored): string
  /** Follows up on a record that was created or changed, once it is stored for good. */
  afterSave?(record: Stored): void | Promise<void>
  /** Takes along what belongs to a record that goes. */
  beforeRemove?(transaction: Transaction, record: Stored): Promise<void>
  /** Follows up on a record that is gone for good. */
  afterRemove?(record: Stored): void | Promise<void>
  /** What its sealed fields hold, by the field they were given in: to compare, and never to show. */
  openSecrets?(record: Stored): Record<string, unknown>
}

export class Resource<Stored extends StoredRecord, Input extends object = object, Shown = Stored> {
  readonly family: Family
  readonly records: Records<Stored>
  readonly database: Database
  readonly #hooks: ResourceHooks<Stored, Input, Shown>
  readonly #viewFields: readonly string[]
  readonly #listFields: readonly string[]

  constructor(database: Database, family: Family, records: Records<Stored>, rules: ResourceHooks<Stored, Input, Shown> = {}) {
    this.database = database
    this.family = family
    this.records = records
    this.#hooks = rules
    this.#viewFields = Object.keys(getFields(family.resource))
    this.#listFields = Object.keys(getFields(family.item))
  }

  async list(caller: Caller, query: ListQuery): Promise<Page<Stored>> {
    return this.records.list(this.database, query, this.#getScope(caller), this.#listFields)
  }

  async get(caller: Caller, id: string): Promise<Shown> {
    return this.#toView(this.database, await this.require(this.database, caller, id))
  }

  /** As callers see it, without secrets; undefined where there is none. */
  async shown(reader: Reader, id: string): Promise<Shown | undefined> {
    const record = await this.records.get(reader, id)
    return record && this.#toView(reader, record)
  }

  /** `once` is shown in this reply and never again. */
  async create<Once extends object = object>(change: ChangeContext, input: Input, once?: Once): Promise<Shown & Once> {
    const { stored, shown } = await this.database.write(async (transaction) => {
      const { stored, shown: plain } = await this.createInTransaction(transaction, change.caller, input)
      const shown = { ...plain, ...once } as Shown & Once
      await change.storeResponse?.(transaction, shown)
      return { stored, shown }
    })
    await this.#hooks.afterSave?.(stored)
    return shown
  }

  /** What is to change may depend on what is there. */
  async update(change: ChangeContext, id: string, input: Input | ((current: Stored) => Input)): Promise<Shown> {
    return this.modify(change, id, async (current, transaction) =>
      this.#changed(transaction, change.caller, current, typeof input === 'function' ? input(current) : input),
    )
  }

  /** Changes a record in one transaction, over exactly the version that was read. `once` is shown in this reply and never again. */
  async modify<Once extends object = object>(
    change: ChangeContext,
    id: string,
    work: (current: Stored, transaction: Transaction) => Promise<Stored>,
    once?: Once,
  ): Promise<Shown & Once> {
    const { stored, shown } = await this.database.write(async (transaction) => {
      const current = await this.require(transaction, change.caller, id)
      await this.#requireMatch(transaction, change, current)
      const { stored, shown: plain } = await this.#write(transaction, await work(current, transaction))
      const shown = { ...plain, ...once } as Shown & Once
      await change.storeResponse?.(transaction, shown)
      return { stored, shown }
    })
    await this.#hooks.afterSave?.(stored)
    return shown
  }

  /** Writes a record over the version it was read as, and what it refers to. */
  async save(transaction: Transaction, record: Stored): Promise<void> {
    if (!(await this.records.update(transaction, record))) throw createStaleVersionError(this.family.noun)
    await this.#saveLinks(transaction, record)
  }

  /** Creates one as part of a larger change, which has to follow up on it. */
  async createInTransaction(transaction: Transaction, caller: Caller, input: Input): Promise<{ stored: Stored; shown: Shown }> {
    const now = new Date().toISOString()
    const blank = Object.entries(getFields(this.family.resource)).map(([name, schema]) => [name, getInitialValue(schema)])
    const draft = {
      ...Object.fromEntries(blank),
      ...input,
      id: generateId(this.family.prefix),
      version: 1,
      created_at: now,
      updated_at: now,
    } as Stored
    const stored = await this.#prepare(draft, input, { transaction, caller, current: undefined })
    await this.records.insert(transaction, stored)
    await this.#saveLinks(transaction, stored)
    return { stored, shown: await this.#toView(transaction, stored) }
  }

  /** Changes one as part of a larger change, which has to follow up on it. */
  async updateInTransaction(
    transaction: Transaction,
    caller: Caller,
    current: Stored,
    input: Input,
  ): Promise<{ stored: Stored; shown: Shown }> {
    return this.#write(transaction, await this.#changed(transaction, caller, current, input))
  }

  async remove(change: ChangeContext, id: string, force = false): Promise<string> {
    const record = await this.database.write(async (transaction) => {
      const record = await this.require(transaction, change.caller, id)
      await this.#requireMatch(transaction, change, record)
      await this.removeInTransaction(transaction, record, force)
      return record
    })
    await this.#hooks.afterRemove?.(record)
    return `The ${this.family.noun} "${this.#getLabel(record)}" was deleted.`
  }

  /** Removes one as part of a larger change, which has to follow up on it. */
  async removeInTransaction(transaction: Transaction, record: Stored, force: boolean): Promise<void> {
    const { users, total } = await listUsers(transaction, record.id)
    if (total > 0 && !force) throw createInUseError(`${this.family.noun} "${this.#getLabel(record)}"`, users, total)
    await detachAll(transaction, record.id)
    await this.#hooks.beforeRemove?.(transaction, record)
    await replaceLinks(transaction, this.#getOwner(record), [])
    await deleteFileKey(transaction, record.id)
    await this.records.delete(transaction, record.id)
  }

  /** What follows a larger change, once it is stored for good. */
  async runAfterHooks({
    changed: applyInput = [],
    removed = [],
  }: {
    changed?: readonly Stored[]
    removed?: readonly Stored[]
  }): Promise<void> {
    for (const record of applyInput) await this.#hooks.afterSave?.(record)
    for (const record of removed) await this.#hooks.afterRemove?.(record)
  }

  /** Whether two states of a record hold the same secret in a field. */
  hasSameSecret(field: string, one: Stored, other: Stored): boolean {
    return isDeepStrictEqual(this.#hooks.openSecrets?.(one)[field], this.#hooks.openSecrets?.(other)[field])
  }

  /** The record, if the caller may see it. */
  async require(reader: Reader, caller: Caller, id: string): Promise<Stored> {
    const record = await this.records.get(reader, id, this.#getScope(caller))
    if (!record) throw createNotFoundError(this.family.noun, id)
    return record
  }

  /** Throws where there is none that the caller may see. */
  async requireExists(reader: Reader, caller: Caller, id: string): Promise<void> {
    if (!(await this.records.has(reader, id, this.#getScope(caller)))) throw createNotFoundError(this.family.noun, id)
  }

  exists(reader: Reader, id: string): Promise<boolean> {
    return this.records.has(reader, id)
  }

  #getScope(caller: Caller): Scope {
    return this.#hooks.getScope?.(caller) ?? {}
  }

  async #changed(transaction: Transaction, caller: Caller, current: Stored, input: Input): Promise<Stored> {
    return this.#prepare({ ...current, ...input }, input, { transaction, caller, current })
  }

  async #write(transaction: Transaction, changed: Stored): Promise<{ stored: Stored; shown: Shown }> {
    const record = { ...changed, updated_at: new Date().toISOString() }
    await this.save(transaction, record)
    const stored = { ...record, version: record.version + 1 }
    return { stored, shown: await this.#toView(transaction, stored) }
  }

  async #prepare(draft: Stored, input: Input, situation: PrepareContext<Stored>): Promise<Stored> {
    return this.#hooks.prepare ? this.#hooks.prepare(draft, input, situation) : draft
  }

  async #toView(reader: Reader, record: Stored): Promise<Shown> {
    if (this.#hooks.toView) return this.#hooks.toView(reader, record)
    const shown: Record<string, unknown> = {}
    for (const name of this.#viewFields) shown[name] = (record as Record<string, unknown>)[name]
    return shown as Shown
  }

  async #requireMatch(reader: Reader, change: ChangeContext, current: Stored): Promise<void> {
    if (change.ifMatch !== undefined) requireMatchingEtag(this.family.noun, change.ifMatch, await this.#toView(reader, current))
  }

  #getLabel(record: Stored): string {
    return this.#hooks.getLabel?.(record) ?? (record as { name?: string }).name ?? record.id
  }

  #getOwner(record: Stored) {
    return { family: this.family.name, id: record.id, name: this.#getLabel(record) }
  }

  async #saveLinks(transaction: Transaction, record: Stored): Promise<void> {
    if (this.#hooks.getReferences) await replaceLinks(transaction, this.#getOwner(record), this.#hooks.getReferences(record))
  }
}

function createInUseError(what: string, users: { noun: string; id: string; name: string; field: string }[], total: number): CadreError {
  const named = users.slice(0, 3).map(({ noun, name, id }) => `${noun} "${name}" (${id})`)
  const more = total > named.length ? ` and ${total - named.length} more` : ''
  return new CadreError('CONFLICT', `The ${what} is used by ${named.join(', ')}${more}.`, {
    details: users.map(({ id, field, noun }) => ({ field: `${id}.${field}`, problem: `this ${noun} uses it` })),
    hint: 'Take it out of them first, or delete it with ?force=true (--force on the command line), which detaches it from them.',
  })
}
