import { Agent } from '../../src/contract/families/agents.ts'
import type { DatabaseReader } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredAgent = Agent & StoredRecord

export const agentRecords = new Records<StoredAgent>({ table: 'agents', schema: Agent })

/** Lists the first agents with this prompt template that have no value for one of the variables, and their number. */
export async function listAgentsWithout(
  reader: DatabaseReader,
  templateId: string,
  variables: readonly string[],
): Promise<{ agents: { id: string; name: string }[]; total: number }> {
  const condition = `prompt_template_id = ? AND EXISTS (SELECT 1 FROM json_each(?) AS needed WHERE NOT EXISTS
    (SELECT 1 FROM json_each(agents.variables) AS given WHERE given.key = needed.value AND given.type <> 'null'))`
  const values = [templateId, JSON.stringify(variables)]
  const agents = await reader.all<{ id: string; name: string }>(
    `SELECT id, name FROM agents WHERE ${condition} ORDER BY id LIMIT 10`,
    values,
  )
  const row = await reader.get<{ total: number }>(`SELECT count(*) AS total FROM agents WHERE ${condition}`, values)
  return { agents, total: row?.total ?? 0 }
}
