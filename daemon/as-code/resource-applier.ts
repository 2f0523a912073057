/** Applies declared resources within one transaction and records the changes. */
import { hash } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { ApplyResult } from '../../src/contract/families/as-code.ts'
import type { Caller } from '../core/caller.ts'
import type { Transaction } from '../store/database.ts'
import { deleteFileKey, insertFileKey } from '../store/file-keys.ts'
import { listUsers } from '../store/links.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Validator } from '../validation/validator.ts'
import { compareFields } from './compare-fields.ts'
import { classifySecrets, withPlaceholders } from './declared-secrets.ts'
import { createDefaultKey, type Identity, type Inventory, listNames, type ManagedService } from './inventory.ts'
import type { Fields, Kind } from './kinds.ts'
import { isAllowed } from './permission.ts'
import { getPlainFields, listFileFields } from './record-fields.ts'
import { type Entry, formatKeyedName, type ResourceDirectory, replaceIdsWithNames, replaceNamesWithIds } from './references.ts'
import { runAndRollBack } from './store.ts'

export interface DeclaredResource {
  file: string
  fields: Fields
}

export type Applied = Static<typeof ApplyResult>
export type Change = Applied['changes'][number]

/** Replaces secret values in changes. */
const SECRET_LABEL = '(secret)'

const KEY_PATTERN = /^[a-z0-9][a-z0-9-]{0,39}$/i

/** Resources applied before yielding to the event loop. */
const BATCH_SIZE = 10

interface ResourceApplierDependencies {
  transaction: Transaction
  caller: Caller
  validator: Validator
  inventory: Inventory
}

export class ResourceApplier {
  readonly changes: Change[] = []
  readonly secrets: Applied['secrets'] = []
  /** Secrets without a value. If there are any, the transaction must be rolled back. */
  readonly missing: Applied['missing'] = []
  /** Unset variables whose stored secrets are kept. */
  readonly keptVariables: string[] = []
  readonly #dependencies: ResourceApplierDependencies
  readonly #matched = new Set<string>()
  readonly #changed: { resource: ManagedService; record: StoredRecord; previous?: StoredRecord }[] = []
  readonly #removed: { resource: ManagedService; record: StoredRecord }[] = []
  /** Ids and versions of changed and removed records. */
  readonly #versions: [string, number][] = []

  constructor(dependencies: ResourceApplierDependencies) {
    this.#dependencies = dependencies
  }

  get directory(): ResourceDirectory {
    return this.#dependencies.inventory.directory
  }

  /** A hash of the changes and of the versions they apply to. */
  get plan(): string {
    const changes = this.changes.filter(({ action }) => action !== 'unchanged').map(({ id: _, ...change }) => change)
    return hash('sha256', JSON.stringify([changes, this.#versions]), 'base64url')
  }

  /** Creates and updates the declared resources of a family. */
  async applyFamily(kind: Kind, resource: ManagedService, declared: readonly DeclaredResource[]): Promise<void> {
    const [first] = declared
    if (first && !isAllowed('create', kind, this.#dependencies.caller))
      throw new CadreError('FORBIDDEN', `${first.file}: only admins can apply ${kind.name}.`, {
        hint: 'Use a token with the role admin.',
      })
    const identities = await this.#identify(kind, declared)
    // Replay models refer to other models, so they come last.
    const order = [...declared.keys()].sort((a, b) => isReplay(declared[a]) - isReplay(declared[b]))
    for (const [count, index] of order.entries()) {
      if (count % BATCH_SIZE === 0) await yieldToEventLoop()
      const { file, fields } = declared[index] as DeclaredResource
      await withFileContext(file, () =>
        this.#applyResource(kind, resource, identities[index] as Identity, { file, fields: omitKey(kind, fields) }),
      )
    }
  }

  /** Deletes the resources of a family that are not declared. */
  async prune(kind: Kind, resource: ManagedService): Promise<void> {
    const { transaction, inventory } = this.#dependencies
    const undeclared = inventory.list(kind).filter(({ record }) => !this.#matched.has(record.id))
    for (const [count, { name, record }] of undeclared.entries()) {
      if (count % BATCH_SIZE === 0) await yieldToEventLoop()
      const { users } = await listUsers(transaction, record.id, Number.MAX_SAFE_INTEGER)
      // Conversations are not configuration: they continue without the deleted resource.
      const force = users.every(({ noun }) => noun === 'conversation')
      await resource.removeInTransaction(transaction, record, force).catch(rethrowConflict)
      this.#versions.push([record.id, record.version])
      this.#removed.push({ resource, record })
      this.changes.push({ family: kind.name, name, id: record.id, action: 'delete', fields: [] })
    }
  }

  /** Checks that the users of updated resources still work. */
  async checkUsers(): Promise<void> {
    for (const { resource, record, previous } of this.#changed)
      if (previous) await resource.hooks.checkUsers?.(this.#dependencies.transaction, record, previous)
  }

  async runAfterHooks(): Promise<void> {
    for (const { resource, record } of this.#changed) await resource.hooks.afterSave?.(record)
    for (const { resource, record } of this.#removed) await resource.hooks.afterRemove?.(record)
  }

  /** Determines the resource of each file. Throws if two files declare the same resource. */
  async #identify(kind: Kind, declared: readonly DeclaredResource[]): Promise<Identity[]> {
    const identityFields: Fields[] = []
    for (const { file, fields } of declared)
      identityFields.push(await withFileContext(file, async () => this.#getIdentityFields(kind, fields)))
    const files = new Map<string, Map<string | undefined, string>>()
    const keys = new Map<string, Set<string>>()
    return listNames(kind, identityFields).map((name, index) => {
      const { file, fields } = declared[index] as DeclaredResource
      const key = kind.label && (fields.key as string | undefined)
      const filesByKey = files.get(name) ?? new Map()
      const otherKeys = keys.get(name) ?? new Set()
      const first = filesByKey.get(key)
      if (first !== undefined) throw createDuplicateError(kind, first, file, name)
      files.set(name, filesByKey.set(key, file))
      keys.set(name, key === undefined ? otherKeys : otherKeys.add(key))
      return { name, key, otherKeys }
    })
  }

  /** Returns the fields that identify a resource. References of thresholds are normalized to names. */
  #getIdentityFields({ label, references }: Kind, fields: Fields): Fields {
    const { directory } = this.#dependencies.inventory
    if (label === undefined) return replaceIdsWithNames(directory, references, replaceNamesWithIds(directory, references, fields))
    if (typeof fields[label] !== 'string') throw createValidationError(label, 'is required and must be a string')
    if (fields.key !== undefined && !(typeof fields.key === 'string' && KEY_PATTERN.test(fields.key)))
      throw createValidationError(
        'key',
        'must consist of at most 40 letters, digits and dashes',
        'A key distinguishes resources with the same name, such as key: second.',
      )
    return fields
  }

  async #applyResource(kind: Kind, resource: ManagedService, identity: Identity, { file, fields }: DeclaredResource): Promise<void> {
    const { transaction, caller, validator, inventory } = this.#dependencies
    const found = inventory.find(kind, identity)
    // Read again: a change of another resource can detach it from this one.
    const current = found && (await resource.records.get(transaction, found.record.id))
    const { provided, kept, missing } = classifySecrets(kind, fields, current)
    for (const { field, variables } of missing) this.missing.push(...variables.map((variable) => ({ variable, file, field })))
    const declaredFields = Object.fromEntries(
      Object.entries(withPlaceholders(fields, missing)).filter(([field]) => !kept.some((secret) => secret.field === field)),
    )
    const input = replaceNamesWithIds(inventory.directory, kind.references, declaredFields)
    validator.check(kind.family.create, input)
    if (!found || !current) return this.#create(kind, resource, identity, input)
    this.#matched.add(current.id)
    await this.#saveFileKey(found.entry, identity)
    this.keptVariables.push(...kept.flatMap(({ variables }) => variables))
    // Creates the resource and rolls back, to get normalized values with defaults. Runs as an admin: the update below checks the
    // permissions of the caller.
    const admin = { ...caller, role: 'admin' as const }
    const normalized = await runAndRollBack(transaction, async () => (await resource.createInTransaction(transaction, admin, input)).stored)
    const read = (record: StoredRecord) => getPlainFields(kind, record, inventory.directory)
    const differences = compareFields(listFileFields(kind), read(current), read(normalized))
    const secretFields = [...provided, ...missing.map(({ field }) => field)]
    const openSecret = (record: StoredRecord, field: string) => resource.hooks.openSecrets?.(record)[field]
    const changedSecrets = secretFields.filter((field) => !isDeepStrictEqual(openSecret(normalized, field), openSecret(current, field)))
    const immutable = differences.find(({ field }) => kind.immutableFields?.includes(field))
    if (immutable)
      throw createValidationError(
        immutable.field,
        `cannot be changed from ${JSON.stringify(immutable.from)}`,
        `Use another ${kind.label}, or delete the ${kind.family.noun} first.`,
      )
    const change = { family: kind.name, name: inventory.directory.getLabel(current.id), id: current.id }
    if (differences.length + changedSecrets.length === 0) return void this.changes.push({ ...change, action: 'unchanged', fields: [] })
    const resentFields = kind.resentFields?.filter((field) => input[field] !== undefined) ?? []
    const update = {
      ...Object.fromEntries(resentFields.map((field) => [field, input[field]])),
      ...Object.fromEntries(differences.map(({ field }) => [field, (normalized as unknown as Fields)[field]])),
      ...Object.fromEntries(changedSecrets.map((field) => [field, input[field]])),
    }
    const { stored } = await resource.updateInTransaction(transaction, caller, current, update)
    this.#versions.push([current.id, current.version])
    this.#changed.push({ resource, record: stored, previous: current })
    this.changes.push({
      ...change,
      action: 'update',
      fields: [...differences, ...changedSecrets.map((field) => ({ field, from: SECRET_LABEL, to: SECRET_LABEL }))],
    })
  }

  async #saveFileKey(entry: Entry, { key }: Identity): Promise<void> {
    const { transaction } = this.#dependencies
    if (entry.hasFileKey === (key !== undefined)) return
    await (key === undefined ? deleteFileKey(transaction, entry.id) : insertFileKey(transaction, entry.id, key))
    entry.hasFileKey = key !== undefined
  }

  async #create(kind: Kind, resource: ManagedService, { name: plainName, key }: Identity, input: Fields): Promise<void> {
    const { transaction, caller, inventory } = this.#dependencies
    const generated = Object.fromEntries(Object.entries(kind.generateSecrets?.() ?? {}).filter(([field]) => input[field] === undefined))
    const { stored } = await resource.createInTransaction(transaction, caller, { ...input, ...generated })
    if (key !== undefined) await insertFileKey(transaction, stored.id, key)
    const name = key === undefined ? plainName : formatKeyedName(plainName, key)
    for (const secret of Object.values(generated)) this.secrets.push({ family: kind.name, name, secret: String(secret) })
    inventory.directory.add({
      family: kind.name,
      id: stored.id,
      name: plainName,
      key: key ?? createDefaultKey(stored.id),
      hasFileKey: key !== undefined,
    })
    this.#changed.push({ resource, record: stored })
    const fields = Object.entries(getPlainFields(kind, stored, inventory.directory)).map(([field, to]) => ({ field, to }))
    const hidden = classifySecrets(kind, input, undefined).provided.map((field) => ({ field, to: SECRET_LABEL }))
    this.changes.push({ family: kind.name, name, id: stored.id, action: 'create', fields: [...fields, ...hidden] })
  }
}

/** Replaces the hint to force the deletion, which files cannot do. */
function rethrowConflict(error: unknown): never {
  if (!(error instanceof CadreError) || error.code !== 'CONFLICT') throw error
  throw new CadreError(error.code, error.message, {
    hint: 'Remove the references to it first, or declare it in a file.',
    details: error.details,
    cause: error,
  })
}

const createDuplicateError = ({ family: { noun }, label }: Kind, first: string, second: string, name: string): CadreError =>
  new CadreError('VALIDATION_ERROR', `${first} and ${second} both declare the ${noun} "${name}".`, {
    hint: `Keep one file.${label === undefined ? '' : ` For another ${noun} with the same ${label}, add a key, such as key: second.`}`,
  })

/** Thresholds have no names, and so no keys. */
function omitKey({ label }: Kind, fields: Fields): Fields {
  if (label === undefined) return fields
  const { key: _, ...rest } = fields
  return rest
}

const isReplay = (declared: DeclaredResource | undefined): number => Number(declared?.fields.provider === 'replay')

/** Prefixes errors with the file. */
export async function withFileContext<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CadreError)) throw error
    throw new CadreError(error.code, `${file}: ${error.message}`, { hint: error.hint, details: error.details, cause: error })
  }
}
