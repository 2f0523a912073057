import type { Static } from 'typebox'
import { RagTool } from '../../src/contract/families/rag-tools.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredRagTool = Static<typeof RagTool> & StoredRecord

export const ragToolRecords = new Records<StoredRagTool>({ table: 'rag_tools', schema: RagTool })
