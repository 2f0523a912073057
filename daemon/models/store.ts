/** Models as they are stored; the key is sealed. */
import type { Static } from 'typebox'
import { EMBEDDED_MODEL_ID, Model } from '../../src/contract/families/models.ts'
import type { Reader, Transaction } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredModel = Static<typeof Model> &
  StoredRecord & {
    api_key: string | null
    /** 1 where an admin set the endpoint, which may then be inside the private network; 0 where an editor did. */
    allow_private: number
  }

export const modelRecords = new Records<StoredModel>({ table: 'models', schema: Model, hidden: ['api_key', 'allow_private'] })

/** The model of whoever names none; the embedded one until another is set. */
export async function defaultModelId(reader: Reader): Promise<string> {
  const row = await reader.get<{ default_model_id: string }>("SELECT default_model_id FROM settings WHERE id = 'settings'")
  return row?.default_model_id ?? EMBEDDED_MODEL_ID
}

export const isRemote = ({ provider }: StoredModel): boolean => provider !== 'embedded' && provider !== 'replay'

/** Whether any model is asked over the network. */
export async function hasRemoteModel(reader: Reader): Promise<boolean> {
  return (await reader.get("SELECT 1 AS found FROM models WHERE provider NOT IN ('embedded', 'replay') LIMIT 1")) !== undefined
}

/** Those that recorded a model which is deleted only play from now on; what its provider calls it tells whose answers they are. */
export async function stopRecordings(transaction: Transaction, { id, model_id }: StoredModel): Promise<void> {
  await transaction.run(
    "UPDATE models SET recording = 0, model_id = ?, version = version + 1, updated_at = ? WHERE provider = 'replay' AND model_id = ?",
    [model_id, new Date().toISOString(), id],
  )
}
