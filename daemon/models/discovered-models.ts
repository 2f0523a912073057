/** Lists models on this machine and of API keys in the environment, and adds them. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { modelRoutes } from '../../src/contract/families/models.ts'
import type { ChangeContext } from '../core/caller.ts'
import type { Database } from '../store/database.ts'
import { type AvailableModel, listModelNames, type ModelDiscovery } from './model-discovery.ts'
import type { ModelInput } from './prepare-model.ts'
import { normalizeEndpoint } from './providers/endpoints.ts'
import type { ModelsService } from './service.ts'
import { isRemote, modelRecords, type StoredModel } from './store.ts'

type AdoptInput = Static<typeof modelRoutes.adopt.body>

/** Models with the same name, at different addresses. */
const MAX_CANDIDATES = 100

export function createDiscoveredModels(database: Database, discovery: ModelDiscovery, models: ModelsService) {
  let lastAdoption: Promise<unknown> = Promise.resolve()

  /** Lists available models, with the id of those that were added already. */
  async function list(): Promise<Static<typeof modelRoutes.discover.response>> {
    const available = await discovery.list()
    return Promise.all(available.map(async (model) => ({ ...model, added: await findAdded(model) })))
  }

  /** Adds a discovered model, unless it was added already. Its API key is copied from the environment to the vault. */
  async function adopt(change: ChangeContext, input: AdoptInput): Promise<StoredModel> {
    // One after the other: two requests at the same time would both find that the model does not exist.
    const adoption = lastAdoption.catch(() => undefined).then(() => adoptNext(change, input))
    lastAdoption = adoption
    return adoption
  }

  async function adoptNext(change: ChangeContext, { origin, model_id, name }: AdoptInput): Promise<StoredModel> {
    const available = await discovery.list(origin)
    const key = discovery.findKey(origin)
    const [first] = available
    const listed = model_id === undefined ? first : available.find((model) => model.model_id === model_id)
    // A key gives access to all models of its provider, which are not listed.
    const model = listed ?? (first && key !== undefined && model_id !== undefined ? { ...first, model_id, name: model_id } : undefined)
    if (!model)
      throw createValidationError(
        'origin',
        `no such model was discovered at ${origin}`,
        'To list the available models: cadre models discover (GET /api/models/discover).',
      )
    const added = await findAdded(model)
    if (added !== null)
      throw new CadreError('CONFLICT', `The model ${model.model_id} of ${origin} was added already.`, { hint: `Its id is ${added}.` })
    const { provider, endpoint } = model
    const input = { name: name ?? model.name, provider, model_id: model.model_id, endpoint, api_key: key }
    return models.create(change, input as ModelInput)
  }

  /** Finds the model at the same address, whatever its provider is called: Ollama is also an OpenAI-compatible server. */
  async function findAdded({ provider, model_id, endpoint }: AvailableModel): Promise<string | null> {
    const candidates = await Promise.all(
      listModelNames(model_id).map((name) => modelRecords.find(database, { model_id: name }, MAX_CANDIDATES)),
    )
    const address = normalizeEndpoint(provider, endpoint)
    const isSame = (model: StoredModel) => isRemote(model) && normalizeEndpoint(model.provider, model.endpoint) === address
    return candidates.flat().find(isSame)?.id ?? null
  }

  return { list, adopt }
}

export type DiscoveredModels = ReturnType<typeof createDiscoveredModels>
