/** Persistence of models. The API key is encrypted. */
import { EMBEDDED_MODEL_ID, Model } from '../../src/contract/families/models.ts'
import type { DatabaseReader, Transaction } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredModel = Model &
  StoredRecord & {
    api_key: string | null
    /** 1 if an admin set the endpoint, which may be in the private network then; 0 if an editor did. */
    allow_private: number
  }

export const modelRecords = new Records<StoredModel>({ table: 'models', schema: Model, hidden: ['api_key', 'allow_private'] })

/** Returns the embedded model unless the settings name another. */
export async function getDefaultModelId(reader: DatabaseReader): Promise<string> {
  const row = await reader.get<{ default_model_id: string }>("SELECT default_model_id FROM settings WHERE id = 'settings'")
  return row?.default_model_id ?? EMBEDDED_MODEL_ID
}

export const isRemote = ({ provider }: StoredModel): boolean => provider !== 'embedded' && provider !== 'replay'

export async function hasRemoteModel(reader: DatabaseReader): Promise<boolean> {
  return (await reader.get("SELECT 1 AS found FROM models WHERE provider NOT IN ('embedded', 'replay') LIMIT 1")) !== undefined
}

/** Stops replay models that record a deleted model, and keeps the provider's name of it in their model_id. */
export async function stopRecordings(transaction: Transaction, { id, model_id }: StoredModel): Promise<void> {
  await transaction.run(
    "UPDATE models SET recording = 0, model_id = ?, version = version + 1, updated_at = ? WHERE provider = 'replay' AND model_id = ?",
    [model_id, new Date().toISOString(), id],
  )
}
