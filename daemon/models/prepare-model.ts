/** What a model's record has to keep to, and who may say what of it. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID, type ModelCreate, type ModelUpdate } from '../../src/contract/families/models.ts'
import { requireAdmin } from '../core/caller.ts'
import type { PrepareContext } from '../crud/resource.ts'
import { isPrivateHost } from '../outbound/classify-address.ts'
import { parseHttpUrl } from '../outbound/parse-url.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Reader } from '../store/database.ts'
import { modelRecords, type StoredModel } from './store.ts'

export type ModelInput = Static<typeof ModelCreate> | Static<typeof ModelUpdate>

/** By its identifier, by what its provider calls it, or by what people here do. */
export async function resolveModelId(reader: Reader, named: string, field: string): Promise<string> {
  if (await modelRecords.get(reader, named)) return named
  const called = await modelRecords.find(reader, { model_id: named }, 2)
  const found = called.length > 0 ? called : await modelRecords.find(reader, { name: named }, 2)
  if (found.length > 1)
    throw createValidationError(
      field,
      `more than one model is called "${named}"`,
      `Name it by its id: ${found.map(({ id }) => id).join(' or ')}.`,
    )
  if (!found[0])
    throw createValidationError(field, `there is no model "${named}"`, 'GET /api/models (cadre models list) shows the models there are.')
  return found[0].id
}

/** What is recorded is a model here; one whose recordings were brought from elsewhere and that records no more need not be. */
export async function prepareReplayModel(record: StoredModel, { transaction }: PrepareContext<StoredModel>): Promise<StoredModel> {
  if (record.provider !== 'replay') {
    if (record.recording !== null) throw createValidationError('recording', 'is for models of the provider replay')
    return record
  }
  if (record.endpoint !== null)
    throw createValidationError('endpoint', 'a model that plays back has none', 'Leave it out; model_id names the model that is recorded.')
  if (record.recording === false) return record
  const model_id = await resolveModelId(transaction, record.model_id, 'model_id')
  if ((await modelRecords.get(transaction, model_id))?.provider === 'replay')
    throw createValidationError('model_id', 'is a model that plays back itself')
  return { ...record, model_id, recording: true }
}

export function prepareModel(
  vault: Vault,
  record: StoredModel,
  given: ModelInput,
  { caller, current }: PrepareContext<StoredModel>,
): StoredModel {
  if (current?.id === EMBEDDED_MODEL_ID) throw createBuiltInModelError()
  if (record.provider === 'embedded')
    throw createValidationError('provider', 'the embedded model is there already', `Use its id: ${EMBEDDED_MODEL_ID}.`)
  if (record.provider === 'openai-compatible' && record.endpoint === null)
    throw createValidationError('endpoint', 'is required for the provider openai-compatible')
  if (record.endpoint !== null) {
    const { hostname } = parseHttpUrl('endpoint', record.endpoint, 'Give it as api_key.')
    if (given.endpoint && given.endpoint !== current?.endpoint && isPrivateHost(hostname))
      requireAdmin(caller, 'point a model at this machine or its private network')
  }
  if (given.api_key !== undefined) requireAdmin(caller, 'set or forget the key of a model')
  const redirected = current !== undefined && (current.endpoint !== record.endpoint || current.provider !== record.provider)
  if (redirected && current.has_api_key && given.api_key === undefined) requireAdmin(caller, 'change where a model with a key sends it')
  const allow_private = whoseEndpoint(record, given, { caller, current })
  if (given.api_key === undefined)
    return { ...record, allow_private, api_key: current?.api_key ?? null, has_api_key: current?.has_api_key ?? false }
  const sealed = given.api_key === null ? null : vault.seal(given.api_key, `${record.id}/api_key`)
  return { ...record, allow_private, api_key: sealed, has_api_key: sealed !== null }
}

/** Whether what it embedded is of no use any more: a server at another address may have something else under the same name. */
export const isDifferentModel = (before: StoredModel, after: StoredModel): boolean =>
  before.provider !== after.provider || before.model_id !== after.model_id || before.endpoint !== after.endpoint

/** 1 for an admin's, who may also point inside with a name that only later turns out to lead there. */
function whoseEndpoint(
  { endpoint }: StoredModel,
  given: ModelInput,
  { caller, current }: Pick<PrepareContext<StoredModel>, 'caller' | 'current'>,
): number {
  if (current && (given.endpoint === undefined || (current.endpoint === endpoint && caller.role !== 'admin'))) return current.allow_private
  return Number(caller.role === 'admin')
}

export const createBuiltInModelError = () =>
  new CadreError('CONFLICT', 'The embedded model is part of Cadre and cannot be changed or deleted.', {
    hint: 'Add a model of your own and make it the default.',
  })
