import type { Static } from 'typebox'
import { RetrievalTool } from '../../src/contract/families/retrieval-tools.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredRetrievalTool = Static<typeof RetrievalTool> & StoredRecord

export const retrievalToolRecords = new Records<StoredRetrievalTool>({ table: 'retrieval_tools', schema: RetrievalTool })
