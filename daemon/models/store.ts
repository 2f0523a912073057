/** Models as they are stored; the key is sealed. */
import type { Static } from 'typebox'
import { Model } from '../../src/contract/models.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredModel = Static<typeof Model> & StoredRecord & { api_key: string | null }

export const modelRecords = new Records<StoredModel>({ table: 'models', schema: Model, hidden: ['api_key'] })
