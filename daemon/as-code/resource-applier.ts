/** One application of a set of resources, within one transaction. */
import { hash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { Caller } from '../core/caller.ts'
import type { Transaction } from '../store/database.ts'
import { deleteFileKey, insertFileKey } from '../store/file-keys.ts'
import { listUsers } from '../store/links.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Validator } from '../validation/validator.ts'
import { classifySecrets, withPlaceholders } from './declared-secrets.ts'
import { createDefaultKey, type Identity, type Inventory, listNames, type ManagedService } from './inventory.ts'
import type { Fields, Kind, ManagedResource } from './kinds.ts'
import { isAllowed } from './permission.ts'
import { getPlainFields, listFileFields } from './record-fields.ts'
import { type Entry, formatKeyedName, type ResourceDirectory, replaceIdsWithNames, replaceNamesWithIds } from './references.ts'
import { runAndRollBack } from './store.ts'

export interface DeclaredResource {
  file: string
  fields: Fields
}

export interface FieldChange {
  field: string
  from?: unknown
  to?: unknown
}

export interface Change {
  family: ManagedResource | 'settings'
  name: string
  id: string | null
  action: 'create' | 'update' | 'unchanged' | 'delete'
  fields: FieldChange[]
}

export interface MissingSecret {
  variable: string
  file: string
  field: string
}

/** What is shown of a secret. */
const SECRET_LABEL = '(secret)'

const KEY_PATTERN = /^[a-z0-9][a-z0-9-]{0,39}$/i

/** Resources in one turn of the event loop: others are answered in between, as things were before. */
const BATCH_SIZE = 10

export interface ResourceApplierDependencies {
  transaction: Transaction
  caller: Caller
  validator: Validator
  inventory: Inventory
}

export class ResourceApplier {
  readonly changes: Change[] = []
  readonly secrets: { family: ManagedResource; name: string; secret: string }[] = []
  /** Secrets that nobody gave: with one of them, what was done must not stay. */
  readonly missing: MissingSecret[] = []
  /** Variables whose secrets stay as they are. */
  readonly keptVariables: string[] = []
  readonly #dependencies: ResourceApplierDependencies
  readonly #matched = new Set<string>()
  readonly #changed: { resource: ManagedService; record: StoredRecord }[] = []
  readonly #removed: { resource: ManagedService; record: StoredRecord }[] = []
  /** Which version of what was changed or removed. */
  readonly #versions: [string, number][] = []

  constructor(parts: ResourceApplierDependencies) {
    this.#dependencies = parts
  }

  get directory(): ResourceDirectory {
    return this.#dependencies.inventory.directory
  }

  /** Stands for exactly these changes to exactly what was there. */
  get plan(): string {
    const changes = this.changes.filter(({ action }) => action !== 'unchanged').map(({ id: _, ...change }) => change)
    return hash('sha256', JSON.stringify([changes, this.#versions]), 'base64url')
  }

  /** Creates and changes what is declared of a family. */
  async applyFamily(kind: Kind, resource: ManagedService, declared: readonly DeclaredResource[]): Promise<void> {
    const [first] = declared
    if (first && !isAllowed('create', kind, this.#dependencies.caller))
      throw new CadreError('FORBIDDEN', `${first.file}: only an admin may apply ${kind.name}.`, {
        hint: 'Use a token with the role admin.',
      })
    const identities = await this.#identify(kind, declared)
    // Models that play back others come after those.
    const order = [...declared.keys()].sort((a, b) => isReplay(declared[a]) - isReplay(declared[b]))
    for (const [at, index] of order.entries()) {
      if (at % BATCH_SIZE === 0) await turn()
      const { file, fields } = declared[index] as DeclaredResource
      await withFileContext(file, () =>
        this.#applyResource(kind, resource, identities[index] as Identity, { file, fields: omitKey(kind, fields) }),
      )
    }
  }

  /** Deletes what is not declared of a family. */
  async prune(kind: Kind, resource: ManagedService): Promise<void> {
    const { transaction, inventory } = this.#dependencies
    const gone = inventory.list(kind).filter(({ record }) => !this.#matched.has(record.id))
    for (const [at, { name, record }] of gone.entries()) {
      if (at % BATCH_SIZE === 0) await turn()
      const { users } = await listUsers(transaction, record.id, Number.MAX_SAFE_INTEGER)
      // Conversations are no configuration: they stay, and go on without what is gone.
      const force = users.every(({ noun }) => noun === 'conversation')
      await resource.removeInTransaction(transaction, record, force).catch(rethrowConflict)
      this.#versions.push([record.id, record.version])
      this.#removed.push({ resource, record })
      this.changes.push({ family: kind.name, name, id: record.id, action: 'delete', fields: [] })
    }
  }

  async runAfterHooks(): Promise<void> {
    for (const { resource, record } of this.#changed) await resource.runAfterHooks({ changed: [record] })
    for (const { resource, record } of this.#removed) await resource.runAfterHooks({ removed: [record] })
  }

  /** What each file is about: one resource has one file. */
  async #identify(kind: Kind, declared: readonly DeclaredResource[]): Promise<Identity[]> {
    const spelled: Fields[] = []
    for (const { file, fields } of declared) spelled.push(await withFileContext(file, async () => this.#getIdentityFields(kind, fields)))
    const files = new Map<string, Map<string | undefined, string>>()
    const keys = new Map<string, Set<string>>()
    const identities = listNames(kind, spelled).map((name, index) => {
      const { file, fields } = declared[index] as DeclaredResource
      const key = kind.label && (fields.key as string | undefined)
      const same = files.get(name) ?? new Map()
      const others = keys.get(name) ?? new Set()
      const first = same.get(key)
      if (first !== undefined) throw createDuplicateError(kind, first, file, name)
      files.set(name, same.set(key, file))
      keys.set(name, key === undefined ? others : others.add(key))
      return { name, key, others }
    })
    return identities
  }

  /** Fields that say what it is called. Thresholds are known by whom they count, however that is spelled. */
  #getIdentityFields({ label, references }: Kind, fields: Fields): Fields {
    const { directory } = this.#dependencies.inventory
    if (label === undefined) return replaceIdsWithNames(directory, references, replaceNamesWithIds(directory, references, fields))
    if (typeof fields[label] !== 'string') throw createValidationError(label, 'is required, as text')
    if (fields.key !== undefined && !(typeof fields.key === 'string' && KEY_PATTERN.test(fields.key)))
      throw createValidationError(
        'key',
        'must be a word of letters, digits and dashes',
        'It tells resources of one name apart, such as key: second.',
      )
    return fields
  }

  async #applyResource(kind: Kind, resource: ManagedService, identity: Identity, { file, fields }: DeclaredResource): Promise<void> {
    const { transaction, caller, validator, inventory } = this.#dependencies
    const found = inventory.find(kind, identity)
    const current = found?.record
    const { provided: given, kept, missing } = classifySecrets(kind, fields, current)
    for (const { field, variables } of missing) this.missing.push(...variables.map((variable) => ({ variable, file, field })))
    const sent = Object.fromEntries(
      Object.entries(withPlaceholders(fields, missing)).filter(([field]) => !kept.some((one) => one.field === field)),
    )
    const input = replaceNamesWithIds(inventory.directory, kind.references, sent)
    validator.check(kind.family.create, input)
    if (!found || !current) return this.#create(kind, resource, identity, input)
    this.#matched.add(current.id)
    await this.#saveFileKey(found.entry, identity)
    this.keptVariables.push(...kept.flatMap(({ variables }) => variables))
    // What the fields mean, with all defaults and spellings out, is what creating them makes of them. An admin could; what the caller may is asked of what differs.
    const admin = { ...caller, role: 'admin' as const }
    const meant = await runAndRollBack(transaction, async () => (await resource.createInTransaction(transaction, admin, input)).stored)
    const differences = this.#listDifferences(kind, current, meant)
    const other = [...given, ...missing.map(({ field }) => field)].filter((field) => !resource.hasSameSecret(field, meant, current))
    const stuck = differences.find(({ field }) => kind.immutableFields?.includes(field))
    if (stuck)
      throw createValidationError(
        stuck.field,
        `cannot be changed from ${JSON.stringify(stuck.from)}`,
        `Give it another ${kind.label}, or delete the ${kind.family.noun} first.`,
      )
    const change = { family: kind.name, name: inventory.directory.getLabel(current.id), id: current.id }
    if (differences.length + other.length === 0) return void this.changes.push({ ...change, action: 'unchanged', fields: [] })
    const update = {
      ...Object.fromEntries(differences.map(({ field }) => [field, (meant as unknown as Fields)[field]])),
      ...Object.fromEntries(other.map((field) => [field, input[field]])),
    }
    const { stored } = await resource.updateInTransaction(transaction, caller, current, update)
    this.#versions.push([current.id, current.version])
    this.#changed.push({ resource, record: stored })
    this.changes.push({
      ...change,
      action: 'update',
      fields: [...differences, ...other.map((field) => ({ field, from: SECRET_LABEL, to: SECRET_LABEL }))],
    })
  }

  /** From now on it is known as its file says. */
  async #saveFileKey(entry: Entry, { key }: Identity): Promise<void> {
    const { transaction } = this.#dependencies
    if (entry.hasFileKey === (key !== undefined)) return
    await (key === undefined ? deleteFileKey(transaction, entry.id) : insertFileKey(transaction, entry.id, key))
    entry.hasFileKey = key !== undefined
  }

  async #create(kind: Kind, resource: ManagedService, { name: plain, key }: Identity, input: Fields): Promise<void> {
    const { transaction, caller, inventory } = this.#dependencies
    const made = Object.fromEntries(Object.entries(kind.generateSecrets?.() ?? {}).filter(([field]) => input[field] === undefined))
    const { stored } = await resource.createInTransaction(transaction, caller, { ...input, ...made })
    if (key !== undefined) await insertFileKey(transaction, stored.id, key)
    const name = key === undefined ? plain : formatKeyedName(plain, key)
    for (const secret of Object.values(made)) this.secrets.push({ family: kind.name, name, secret: String(secret) })
    inventory.directory.add({
      family: kind.name,
      id: stored.id,
      name: plain,
      key: key ?? createDefaultKey(stored.id),
      hasFileKey: key !== undefined,
    })
    this.#changed.push({ resource, record: stored })
    const fields = Object.entries(getPlainFields(kind, stored, inventory.directory)).map(([field, to]) => ({ field, to }))
    const hidden = classifySecrets(kind, input, undefined).provided.map((field) => ({ field, to: SECRET_LABEL }))
    this.changes.push({ family: kind.name, name, id: stored.id, action: 'create', fields: [...fields, ...hidden] })
  }

  #listDifferences(kind: Kind, current: StoredRecord, meant: StoredRecord): FieldChange[] {
    const { directory } = this.#dependencies.inventory
    const [from, to] = [getPlainFields(kind, current, directory), getPlainFields(kind, meant, directory)]
    return listFileFields(kind)
      .filter((field) => !isDeepStrictEqual(from[field], to[field]))
      .map((field) => ({ field, ...(field in from ? { from: from[field] } : {}), ...(field in to ? { to: to[field] } : {}) }))
  }
}

/** Whoever deletes by hand can force it; here a file says what shall be. */
function rethrowConflict(error: unknown): never {
  if (!(error instanceof CadreError) || error.code !== 'CONFLICT') throw error
  throw new CadreError(error.code, error.message, {
    hint: 'Take it out of them first, or keep a file for it.',
    details: error.details,
    cause: error,
  })
}

const createDuplicateError = ({ family: { noun }, label }: Kind, first: string, second: string, name: string): CadreError =>
  new CadreError('VALIDATION_ERROR', `${first} and ${second} are both about the ${noun} "${name}".`, {
    hint: `A resource has one file.${label === undefined ? '' : ` Another one with this ${label} has a key of its own, such as key: second.`}`,
  })

/** Thresholds have no names to share. */
function omitKey({ label }: Kind, fields: Fields): Fields {
  if (label === undefined) return fields
  const { key: _, ...rest } = fields
  return rest
}

const isReplay = (declared: DeclaredResource | undefined): number => Number(declared?.fields.provider === 'replay')

/** What goes wrong with a file says which it was. */
export async function withFileContext<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CadreError)) throw error
    throw new CadreError(error.code, `${file}: ${error.message}`, { hint: error.hint, details: error.details, cause: error })
  }
}
