import type { Static } from 'typebox'
import { McpTool, type McpToolCreate, type McpToolUpdate } from '../../src/contract/families/mcp/mcp-tools.ts'
import type { Transaction } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type McpToolInput = Static<typeof McpToolCreate> | Static<typeof McpToolUpdate>
export type StoredMcpTool = Static<typeof McpTool> & StoredRecord

export const mcpToolRecords = new Records<StoredMcpTool>({ table: 'mcp_tools', schema: McpTool })

export async function requireConfirmations(transaction: Transaction, serverId: string): Promise<void> {
  await transaction.run(
    `UPDATE mcp_tools SET requires_confirmation = 1, version = version + 1, updated_at = ?
      WHERE mcp_server_id = ? AND requires_confirmation = 0`,
    [new Date().toISOString(), serverId],
  )
}
