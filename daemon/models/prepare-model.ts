/** Validates models before they are stored, including the caller's permissions. */
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID, type models } from '../../src/contract/families/models.ts'
import { requireAdmin } from '../core/caller.ts'
import type { FamilyInput, PrepareContext } from '../crud/resource.ts'
import { isPrivateHost } from '../outbound/check-address.ts'
import { parseHttpUrl } from '../outbound/parse-url.ts'
import type { Vault } from '../secrets/vault.ts'
import type { DatabaseReader } from '../store/database.ts'
import { modelRecords, type StoredModel } from './store.ts'

export type ModelInput = FamilyInput<typeof models>

/** Finds models by their id, by the provider's name for them, or by their name here. */
export async function findModelIds(reader: DatabaseReader, reference: string, limit: number): Promise<string[]> {
  if (await modelRecords.has(reader, reference)) return [reference]
  const byModelId = await modelRecords.find(reader, { model_id: reference }, limit)
  const matches = byModelId.length > 0 ? byModelId : await modelRecords.find(reader, { name: reference }, limit)
  return matches.map(({ id }) => id)
}

export async function resolveModelId(reader: DatabaseReader, reference: string, field: string): Promise<string> {
  const [id, ...others] = await findModelIds(reader, reference, 2)
  if (others.length > 0)
    throw createValidationError(field, `more than one model is called "${reference}"`, `Use its id: ${[id, ...others].join(' or ')}.`)
  if (id === undefined)
    throw createValidationError(field, `there is no model "${reference}"`, 'To list the models: cadre models list (GET /api/models).')
  return id
}

/** The recorded model must exist, unless recording is off: recordings may come from another home. */
export async function prepareReplayModel(record: StoredModel, { transaction }: PrepareContext<StoredModel>): Promise<StoredModel> {
  if (record.provider !== 'replay') {
    if (record.recording !== null) throw createValidationError('recording', 'is only for models of the provider replay')
    return record
  }
  if (record.endpoint !== null)
    throw createValidationError('endpoint', 'must not be set for a replay model', 'Omit it; model_id names the recorded model.')
  if (record.recording === false) return record
  const model_id = await resolveModelId(transaction, record.model_id, 'model_id')
  if ((await modelRecords.get(transaction, model_id))?.provider === 'replay')
    throw createValidationError('model_id', 'must not be a replay model')
  return { ...record, model_id, recording: true }
}

export function prepareModel(
  vault: Vault,
  record: StoredModel,
  input: ModelInput,
  { caller, current }: PrepareContext<StoredModel>,
): StoredModel {
  if (current?.id === EMBEDDED_MODEL_ID) throw createBuiltInModelError()
  if (record.provider === 'embedded')
    throw createValidationError('provider', 'the embedded model already exists', `Use its id: ${EMBEDDED_MODEL_ID}.`)
  if (record.provider === 'openai-compatible' && record.endpoint === null)
    throw createValidationError('endpoint', 'is required for the provider openai-compatible')
  if (record.endpoint !== null) {
    const { hostname } = parseHttpUrl('endpoint', record.endpoint, 'Set it as api_key.')
    if (input.endpoint && input.endpoint !== current?.endpoint && isPrivateHost(hostname))
      requireAdmin(caller, 'set an endpoint on this machine or in its private network')
  }
  if (input.api_key !== undefined) requireAdmin(caller, 'set or remove the API key of a model')
  const isRedirected = current !== undefined && (current.endpoint !== record.endpoint || current.provider !== record.provider)
  if (isRedirected && current.has_api_key && input.api_key === undefined)
    requireAdmin(caller, 'change the endpoint or provider of a model with an API key')
  const allow_private = getAllowPrivate(record, input, { caller, current })
  if (input.api_key === undefined)
    return { ...record, allow_private, api_key: current?.api_key ?? null, has_api_key: current?.has_api_key ?? false }
  const sealed = input.api_key === null ? null : vault.seal(input.api_key, `${record.id}/api_key`)
  return { ...record, allow_private, api_key: sealed, has_api_key: sealed !== null }
}

/** Embeddings of a different model cannot be used anymore. A server at another endpoint may have another model of the same name. */
export const isDifferentModel = (before: StoredModel, after: StoredModel): boolean =>
  before.provider !== after.provider || before.model_id !== after.model_id || before.endpoint !== after.endpoint

/** Returns 1 for an admin's endpoint: its host name may resolve to a private address later. */
function getAllowPrivate(
  { endpoint }: StoredModel,
  input: ModelInput,
  { caller, current }: Pick<PrepareContext<StoredModel>, 'caller' | 'current'>,
): number {
  if (current && (input.endpoint === undefined || (current.endpoint === endpoint && caller.role !== 'admin'))) return current.allow_private
  return Number(caller.role === 'admin')
}

export const createBuiltInModelError = () =>
  new CadreError('CONFLICT', 'The embedded model is part of Cadre and cannot be changed or deleted.', {
    hint: 'Add another model and make it the default.',
  })
