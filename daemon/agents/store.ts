/** Database records of agents. */
import { Agent } from '../../src/contract/families/agents.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredAgent = Agent & StoredRecord

export const agentRecords = new Records<StoredAgent>({ table: 'agents', schema: Agent })
