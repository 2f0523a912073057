/** The whole configuration at once: everything as files hold it, and a set of files as what shall be. */

import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { ManagedFamily } from '../../src/contract/families/as-code.ts'
import { type Settings, systemRoutes } from '../../src/contract/families/system.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import type { Validator } from '../validation/validator.ts'
import { exportResources, type ResourceExport } from './export-resources.ts'
import { loadInventory, type ManagedService } from './inventory.ts'
import { type Fields, KINDS, type ManagedResource, SETTINGS_REFERENCES } from './kinds.ts'
import { replaceIdsWithNames, replaceNamesWithIds } from './references.ts'
import { type DeclaredResource, type Change as Made, type MissingSecret, ResourceApplier, withFileContext } from './resource-applier.ts'

export interface ApplyRequest {
  resources: { family: ManagedFamily; file?: string; fields: Fields }[]
  prune?: boolean
  families?: ManagedFamily[]
  dry_run?: boolean
  plan?: string
}

export interface Applied {
  plan: string
  changes: Made[]
  secrets: { family: ManagedFamily; name: string; secret: string }[]
  missing: MissingSecret[]
  notes: string[]
}

export interface AsCodeDependencies {
  database: Database
  validator: Validator
  /** Of every family that files can hold. */
  resources: readonly ManagedService[]
  settings: {
    getSettings(reader: Reader): Promise<Static<typeof Settings>>
    updateSettingsInTransaction(transaction: Transaction, input: Partial<Static<typeof Settings>>): Promise<Static<typeof Settings>>
  }
}

export class AsCodeService {
  readonly #dependencies: AsCodeDependencies
  readonly #resources: ReadonlyMap<ManagedResource, ManagedService>

  constructor(parts: AsCodeDependencies) {
    this.#dependencies = parts
    this.#resources = new Map(parts.resources.map((resource) => [resource.family.name as ManagedResource, resource]))
    const without = KINDS.find(({ name }) => !this.#resources.has(name))
    if (without) throw new Error(`Nobody looks after ${without.name}`)
  }

  async export(caller: Caller): Promise<ResourceExport> {
    const { database, settings } = this.#dependencies
    // In a transaction, so that it is all of one moment.
    return database.write(async (transaction) =>
      exportResources(await loadInventory(transaction, this.#resources, caller), await settings.getSettings(transaction), caller),
    )
  }

  /** All of it or nothing; and nothing at all where it is only asked what would be done. */
  async apply(change: ChangeContext, request: ApplyRequest): Promise<Applied> {
    let applying: ResourceApplier | undefined
    let reply: Applied | undefined
    try {
      await this.#dependencies.database.write(async (transaction) => {
        applying = new ResourceApplier({
          transaction,
          caller: change.caller,
          validator: this.#dependencies.validator,
          inventory: await loadInventory(transaction, this.#resources, change.caller),
        })
        reply = await this.#applyResources(transaction, applying, request)
        if (request.dry_run) throw new DryRunRollback()
        if (reply.missing.length > 0) throw createUnsetVariablesError(reply.missing)
        if (request.plan !== undefined && request.plan !== reply.plan) throw createStalePlanError()
        await change.storeResponse?.(transaction, reply)
      })
    } catch (error) {
      if (!(error instanceof DryRunRollback)) throw error
      // A secret that nobody has is told to nobody.
      return { ...(reply as Applied), changes: (reply as Applied).changes.map(toPlannedChange), secrets: [] }
    }
    await applying?.runAfterHooks()
    return reply as Applied
  }

  async #applyResources(
    transaction: Transaction,
    applying: ResourceApplier,
    { resources, prune = false, families }: ApplyRequest,
  ): Promise<Applied> {
    const declared = (name: ManagedFamily): DeclaredResource[] =>
      resources.flatMap(({ family, file, fields }, index) => (family === name ? [{ file: file ?? `resources.${index}`, fields }] : []))
    for (const kind of KINDS) await applying.applyFamily(kind, this.#getService(kind.name), declared(kind.name))
    const [settings, another] = declared('settings')
    if (another) throw createValidationError(another.file, `the settings are in ${settings?.file} already`)
    if (settings)
      applying.changes.push(await withFileContext(settings.file, () => this.#applySettings(transaction, applying, settings.fields)))
    if (prune)
      for (const kind of [...KINDS].reverse())
        if (families === undefined || families.includes(kind.name)) await applying.prune(kind, this.#getService(kind.name))
    const { plan, changes, secrets, missing, keptVariables: kept } = applying
    return {
      plan,
      changes,
      secrets,
      missing,
      notes: kept.length === 0 ? [] : [`Secrets whose variables are not set here stay as they are: ${kept.join(', ')}.`],
    }
  }

  async #applySettings(transaction: Transaction, { directory }: Pick<ResourceApplier, 'directory'>, fields: Fields): Promise<Made> {
    const { settings, validator } = this.#dependencies
    const input = replaceNamesWithIds(directory, SETTINGS_REFERENCES, fields)
    validator.check(systemRoutes.updateSettings.body, input)
    const spelled = (all: Fields) => replaceIdsWithNames(directory, SETTINGS_REFERENCES, all)
    const [before, meant] = [spelled(await settings.getSettings(transaction)), spelled(input)]
    const other = Object.keys(meant).filter((field) => meant[field] !== before[field])
    if (other.length > 0) await settings.updateSettingsInTransaction(transaction, input)
    const changes = other.map((field) => ({ field, from: before[field], to: meant[field] }))
    return { family: 'settings', name: 'settings', id: null, action: other.length > 0 ? 'update' : 'unchanged', fields: changes }
  }

  #getService = (name: ManagedResource): ManagedService => this.#resources.get(name) as ManagedService
}

/** Takes back what was done to see what it would be. */
class DryRunRollback extends Error {}

function createUnsetVariablesError(missing: readonly MissingSecret[]): CadreError {
  const named = missing.map(({ variable, file, field }) => `${variable} (${file}: ${field})`)
  return new CadreError('VALIDATION_ERROR', `${named.length > 1 ? 'Variables are' : 'A variable is'} not set: ${named.join(', ')}.`, {
    hint: `Set them where cadre apply runs, such as export ${missing[0]?.variable}=…`,
  })
}

const createStalePlanError = () =>
  new CadreError('CONFLICT', 'What this would do is not what was planned: something was changed meanwhile.', {
    hint: 'Plan it again, and look at it.',
  })

const toPlannedChange = (change: Made): Made => (change.action === 'create' ? { ...change, id: null } : change)
