/** The CRUD operations of a family: lists, views, references and hooks. */
import type { Static } from 'typebox'
import type { Family } from '../../src/contract/crud.ts'
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import { getFields, getInitialValue } from '../../src/contract/schemas/fields.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import { createStaleVersionError, requireMatchingEtag } from '../core/etag.ts'
import { generateId } from '../core/identifiers.ts'
import type { Database, DatabaseReader, Transaction } from '../store/database.ts'
import { deleteFileKey } from '../store/file-keys.ts'
import { detachAll, listUsers, type Reference, replaceLinks } from '../store/links.ts'
import type { Page, Records, Scope, StoredRecord, Subset } from '../store/records.ts'

/** The input of a create or update. */
export type FamilyInput<F extends Family> = Static<F['create']> | Static<F['update']>

export interface PrepareContext<Stored> {
  transaction: Transaction
  caller: Caller
  /** The stored record; undefined on create. */
  current: Stored | undefined
}

/** Hooks of a family. */
interface ResourceHooks<Stored extends StoredRecord, Input, View> {
  /** Validates and completes a record before it is stored. */
  prepare?(record: Stored, input: Input, context: PrepareContext<Stored>): Promise<Stored>
  getReferences?(record: Stored): Reference[]
  /** Converts a record for callers. Default: the fields of the resource schema. */
  toView?(reader: DatabaseReader, record: Stored): Promise<View>
  /** Limits the records that the caller can access. */
  getScope?(caller: Caller): Scope
  getLabel?(record: Stored): string
  /** Checks that the resources that use an updated record still work, after all changes of the transaction. */
  checkUsers?(transaction: Transaction, record: Stored, previous: Stored): Promise<void>
  /** Runs after a create or update was committed. */
  afterSave?(record: Stored): void | Promise<void>
  /** Removes dependent records in the same transaction. */
  beforeRemove?(transaction: Transaction, record: Stored): Promise<void>
  /** Runs after a delete was committed. */
  afterRemove?(record: Stored): void | Promise<void>
  /** Decrypts the secrets by input field, to compare them. */
  openSecrets?(record: Stored): Record<string, unknown>
}

type ComputeInput<Stored, Input, View> = (current: Stored, readView: () => Promise<View>) => Input | Promise<Input>

interface SavedRecord<Stored, View> {
  stored: Stored
  view: View
}

export class Resource<Stored extends StoredRecord, Input extends object = object, View = Stored> {
  readonly family: Family
  readonly records: Records<Stored>
  readonly database: Database
  readonly hooks: ResourceHooks<Stored, Input, View>
  readonly #viewFields: readonly string[]
  readonly #listFields: readonly string[]

  constructor(database: Database, family: Family, records: Records<Stored>, hooks: ResourceHooks<Stored, Input, View> = {}) {
    this.database = database
    this.family = family
    this.records = records
    this.hooks = hooks
    this.#viewFields = Object.keys(getFields(family.resource))
    this.#listFields = Object.keys(getFields(family.item))
  }

  /** `ids` limits the list to these records. */
  async list(caller: Caller, query: ListQuery, subset?: Subset): Promise<Page<Stored>> {
    return this.records.list(this.database, query, this.#getScope(caller), this.#listFields, subset)
  }

  async get(caller: Caller, id: string): Promise<View> {
    return this.#toView(this.database, await this.require(this.database, caller, id))
  }

  /** Finds a record as callers see it. */
  async findView(reader: DatabaseReader, id: string): Promise<View | undefined> {
    const record = await this.records.get(reader, id)
    return record && this.#toView(reader, record)
  }

  /** `once` is added to this response only. */
  async create<Once extends object = object>(change: ChangeContext, input: Input, once?: Once): Promise<View & Once> {
    return this.#commit(change, once, (transaction) => this.createInTransaction(transaction, change.caller, input))
  }

  /** `input` can be computed from the current record. Without fields the record keeps its version and time. */
  async update(change: ChangeContext, id: string, input: Input | ComputeInput<Stored, Input, View>): Promise<View> {
    return this.#commit(change, undefined, async (transaction) => {
      const current = await this.require(transaction, change.caller, id)
      await this.#requireMatch(transaction, change, current)
      const readView = () => this.#toView(transaction, current)
      const fields = typeof input === 'function' ? await input(current, readView) : input
      if (Object.keys(fields).length === 0) return { stored: current, view: await readView() }
      const saved = await this.updateInTransaction(transaction, change.caller, current, fields)
      await this.hooks.checkUsers?.(transaction, saved.stored, current)
      return saved
    })
  }

  /** Changes a record in one transaction. `once` is added to this response only. */
  async modify<Once extends object = object>(
    change: ChangeContext,
    id: string,
    work: (current: Stored, transaction: Transaction) => Promise<Stored>,
    once?: Once,
  ): Promise<View & Once> {
    return this.#commit(change, once, async (transaction) => {
      const current = await this.require(transaction, change.caller, id)
      await this.#requireMatch(transaction, change, current)
      return this.#write(transaction, await work(current, transaction))
    })
  }

  /** Updates a record and its links; throws if another version is stored. */
  async save(transaction: Transaction, record: Stored): Promise<void> {
    if (!(await this.records.update(transaction, record))) throw createStaleVersionError('CONFLICT', this.family.noun)
    await this.#saveLinks(transaction, record)
  }

  /** Creates a record. The caller must run the after hooks when the transaction is committed. */
  async createInTransaction(transaction: Transaction, caller: Caller, input: Input): Promise<SavedRecord<Stored, View>> {
    const now = new Date().toISOString()
    const initialValues = Object.entries(getFields(this.family.resource)).map(([name, schema]) => [name, getInitialValue(schema)])
    const draft = {
      ...Object.fromEntries(initialValues),
      ...input,
      id: generateId(this.family.prefix),
      version: 1,
      created_at: now,
      updated_at: now,
    } as Stored
    const stored = await this.#prepare(draft, input, { transaction, caller, current: undefined })
    await this.records.insert(transaction, stored)
    await this.#saveLinks(transaction, stored)
    return { stored, view: await this.#toView(transaction, stored) }
  }

  /** Updates a record. The caller must check its users at the end, and run the after hooks when the transaction is committed. */
  async updateInTransaction(transaction: Transaction, caller: Caller, current: Stored, input: Input): Promise<SavedRecord<Stored, View>> {
    return this.#write(transaction, await this.#prepare({ ...current, ...input }, input, { transaction, caller, current }))
  }

  async remove(change: ChangeContext, id: string, force = false): Promise<string> {
    const record = await this.database.write(async (transaction) => {
      const record = await this.require(transaction, change.caller, id)
      await this.#requireMatch(transaction, change, record)
      await this.removeInTransaction(transaction, record, force)
      return record
    })
    await this.hooks.afterRemove?.(record)
    return `The ${this.family.noun} "${this.#getLabel(record)}" was deleted.`
  }

  /** Deletes a record. The caller must run the after hooks when the transaction is committed. */
  async removeInTransaction(transaction: Transaction, record: Stored, force: boolean): Promise<void> {
    const { users, total } = await listUsers(transaction, record.id)
    if (total > 0 && !force) throw createInUseError(`${this.family.noun} "${this.#getLabel(record)}"`, users, total)
    await detachAll(transaction, record.id)
    await this.hooks.beforeRemove?.(transaction, record)
    await replaceLinks(transaction, this.#getOwner(record), [])
    await deleteFileKey(transaction, record.id)
    await this.records.delete(transaction, record.id)
  }

  async require(reader: DatabaseReader, caller: Caller, id: string): Promise<Stored> {
    const record = await this.records.get(reader, id, this.#getScope(caller))
    if (!record) throw createNotFoundError(this.family.noun, id)
    return record
  }

  async requireExists(reader: DatabaseReader, caller: Caller, id: string): Promise<void> {
    if (!(await this.records.has(reader, id, this.#getScope(caller)))) throw createNotFoundError(this.family.noun, id)
  }

  exists(reader: DatabaseReader, id: string): Promise<boolean> {
    return this.records.has(reader, id)
  }

  #getScope(caller: Caller): Scope {
    return this.hooks.getScope?.(caller) ?? {}
  }

  async #commit<Once extends object>(
    change: ChangeContext,
    once: Once | undefined,
    work: (transaction: Transaction) => Promise<SavedRecord<Stored, View>>,
  ): Promise<View & Once> {
    const { stored, view } = await this.database.write(async (transaction) => {
      const saved = await work(transaction)
      const view = { ...saved.view, ...once } as View & Once
      await change.storeResponse?.(transaction, view)
      return { ...saved, view }
    })
    await this.hooks.afterSave?.(stored)
    return view
  }

  async #write(transaction: Transaction, changed: Stored): Promise<SavedRecord<Stored, View>> {
    const record = { ...changed, updated_at: new Date().toISOString() }
    await this.save(transaction, record)
    const stored = { ...record, version: record.version + 1 }
    return { stored, view: await this.#toView(transaction, stored) }
  }

  async #prepare(draft: Stored, input: Input, context: PrepareContext<Stored>): Promise<Stored> {
    return this.hooks.prepare ? this.hooks.prepare(draft, input, context) : draft
  }

  async #toView(reader: DatabaseReader, record: Stored): Promise<View> {
    if (this.hooks.toView) return this.hooks.toView(reader, record)
    const view: Record<string, unknown> = {}
    for (const name of this.#viewFields) view[name] = (record as Record<string, unknown>)[name]
    return view as View
  }

  async #requireMatch(reader: DatabaseReader, change: ChangeContext, current: Stored): Promise<void> {
    if (change.ifMatch === undefined) return
    requireMatchingEtag(this.family.noun, change.ifMatch, (await this.#toView(reader, current)) as object)
  }

  #getLabel(record: Stored): string {
    return this.hooks.getLabel?.(record) ?? (record as { name?: string }).name ?? record.id
  }

  #getOwner(record: Stored) {
    return { family: this.family.name, id: record.id, name: this.#getLabel(record) }
  }

  async #saveLinks(transaction: Transaction, record: Stored): Promise<void> {
    if (this.hooks.getReferences) await replaceLinks(transaction, this.#getOwner(record), this.hooks.getReferences(record))
  }
}

function createInUseError(label: string, users: { noun: string; id: string; name: string; field: string }[], total: number): CadreError {
  const examples = users.slice(0, 3).map(({ noun, name, id }) => `${noun} "${name}" (${id})`)
  const more = total > examples.length ? ` and ${total - examples.length} more` : ''
  return new CadreError('CONFLICT', `The ${label} is used by ${examples.join(', ')}${more}.`, {
    details: users.map(({ id, field, noun }) => ({ field: `${id}.${field}`, problem: `this ${noun} uses it` })),
    hint: 'Remove it from them first, or delete it with ?force=true (--force in the CLI) to detach it from them.',
  })
}
