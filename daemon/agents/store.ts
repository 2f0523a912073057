/** Database records of agents. */
import type { Static } from 'typebox'
import { Agent } from '../../src/contract/families/agents.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredAgent = Static<typeof Agent> & StoredRecord

export const agentRecords = new Records<StoredAgent>({ table: 'agents', schema: Agent })
