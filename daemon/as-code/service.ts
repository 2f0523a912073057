/** Exports the whole configuration and applies declared resources. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { asCodeRoutes, ManagedFamily } from '../../src/contract/families/as-code.ts'
import { type Settings, systemRoutes } from '../../src/contract/families/system.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader, Transaction } from '../store/database.ts'
import { compareFields } from './compare-fields.ts'
import { exportResources, type ResourceExport } from './export-resources.ts'
import { loadInventory, type ManagedService } from './inventory.ts'
import { type Fields, KINDS, type ManagedResource, SETTINGS_REFERENCES } from './kinds.ts'
import { replaceIdsWithNames, replaceNamesWithIds } from './references.ts'
import { type Applied, type Change, type DeclaredResource, ResourceApplier, withFileContext } from './resource-applier.ts'

type ApplyRequest = Static<typeof asCodeRoutes.apply.body>

interface AsCodeDependencies extends Shared<'database' | 'validator'> {
  /** The services of all managed families. */
  resources: readonly ManagedService[]
  settings: {
    getSettings(reader: DatabaseReader): Promise<Settings>
    updateSettingsInTransaction(transaction: Transaction, input: Partial<Settings>): Promise<Settings>
  }
}

export class AsCodeService {
  readonly #dependencies: AsCodeDependencies
  readonly #resources: ReadonlyMap<ManagedResource, ManagedService>

  constructor(dependencies: AsCodeDependencies) {
    this.#dependencies = dependencies
    this.#resources = new Map(dependencies.resources.map((resource) => [resource.family.name as ManagedResource, resource]))
    const missing = KINDS.find(({ name }) => !this.#resources.has(name))
    if (missing) throw new Error(`There is no service for ${missing.name}`)
  }

  async export(caller: Caller): Promise<ResourceExport> {
    const { database, settings } = this.#dependencies
    // In a transaction, for a consistent snapshot.
    return database.write(async (transaction) =>
      exportResources(await loadInventory(transaction, this.#resources, caller), await settings.getSettings(transaction), caller),
    )
  }

  /** Applies all resources or none. A dry run rolls everything back. */
  async apply(change: ChangeContext, request: ApplyRequest): Promise<Applied> {
    let applier: ResourceApplier | undefined
    let response: Applied | undefined
    try {
      await this.#dependencies.database.write(async (transaction) => {
        applier = new ResourceApplier({
          transaction,
          caller: change.caller,
          validator: this.#dependencies.validator,
          inventory: await loadInventory(transaction, this.#resources, change.caller),
        })
        response = await this.#applyResources(transaction, applier, request)
        if (request.dry_run) throw new DryRunRollback()
        if (response.missing.length > 0) throw createUnsetVariablesError(response.missing)
        if (request.plan !== undefined && request.plan !== response.plan) throw createStalePlanError()
        await change.storeResponse?.(transaction, response)
      })
    } catch (error) {
      if (!(error instanceof DryRunRollback)) throw error
      // The generated secrets were rolled back.
      return { ...(response as Applied), changes: (response as Applied).changes.map(toPlannedChange), secrets: [] }
    }
    await applier?.runAfterHooks()
    return response as Applied
  }

  async #applyResources(
    transaction: Transaction,
    applier: ResourceApplier,
    { resources, prune = false, families }: ApplyRequest,
  ): Promise<Applied> {
    const declared = (name: ManagedFamily): DeclaredResource[] =>
      resources.flatMap(({ family, file, fields }, index) => (family === name ? [{ file: file ?? `resources.${index}`, fields }] : []))
    for (const kind of KINDS) await applier.applyFamily(kind, this.#getService(kind.name), declared(kind.name))
    const [settings, duplicate] = declared('settings')
    if (duplicate) throw createValidationError(duplicate.file, `settings are already declared in ${settings?.file}`)
    if (settings)
      applier.changes.push(await withFileContext(settings.file, () => this.#applySettings(transaction, applier, settings.fields)))
    if (prune)
      for (const kind of [...KINDS].reverse())
        if (families === undefined || families.includes(kind.name)) await applier.prune(kind, this.#getService(kind.name))
    await applier.checkUsers()
    const { plan, changes, secrets, missing, keptVariables: kept } = applier
    return {
      plan,
      changes,
      secrets,
      missing,
      notes: kept.length === 0 ? [] : [`Stored secrets are kept because their variables are not set: ${kept.join(', ')}.`],
    }
  }

  async #applySettings(transaction: Transaction, { directory }: Pick<ResourceApplier, 'directory'>, fields: Fields): Promise<Change> {
    const { settings, validator } = this.#dependencies
    const input = replaceNamesWithIds(directory, SETTINGS_REFERENCES, fields)
    validator.check(systemRoutes.updateSettings.body, input)
    const toNames = (values: Fields) => replaceIdsWithNames(directory, SETTINGS_REFERENCES, values)
    const [before, after] = [toNames(await settings.getSettings(transaction)), toNames(input)]
    const differences = compareFields(Object.keys(after), before, after)
    if (differences.length > 0) await settings.updateSettingsInTransaction(transaction, input)
    const action = differences.length > 0 ? 'update' : 'unchanged'
    return { family: 'settings', name: 'settings', id: null, action, fields: differences }
  }

  #getService = (name: ManagedResource): ManagedService => this.#resources.get(name) as ManagedService
}

/** Thrown to roll back a dry run. */
class DryRunRollback extends Error {}

function createUnsetVariablesError(missing: Applied['missing']): CadreError {
  const list = missing.map(({ variable, file, field }) => `${variable} (${file}: ${field})`)
  return new CadreError('VALIDATION_ERROR', `${list.length > 1 ? 'Variables are' : 'A variable is'} not set: ${list.join(', ')}.`, {
    hint: `Set them in the environment of cadre apply, such as export ${missing[0]?.variable}=…`,
  })
}

const createStalePlanError = () =>
  new CadreError('CONFLICT', 'The plan is stale: resources have changed since it was created.', {
    hint: 'Create and review a new plan.',
  })

const toPlannedChange = (change: Change): Change => (change.action === 'create' ? { ...change, id: null } : change)
