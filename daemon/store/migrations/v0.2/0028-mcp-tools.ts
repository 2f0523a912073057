/** Migration 0028: MCP servers and their approved tools. */
import { createResourceTable, type Migration } from '../../migration.ts'

export const mcpTools: Migration = {
  name: '0028-mcp-tools',
  async up(transaction) {
    const table = createResourceTable.bind(undefined, transaction)
    await table(
      'mcp_servers',
      `name TEXT NOT NULL, name_key TEXT NOT NULL, description TEXT NOT NULL, command TEXT, args TEXT NOT NULL, url TEXT,
        timeout_ms INTEGER NOT NULL, memory_mb INTEGER NOT NULL, allow_private_network INTEGER NOT NULL, env_names TEXT NOT NULL,
        header_names TEXT NOT NULL, auth TEXT NOT NULL, secrets TEXT, oauth TEXT`,
      ['name_key', 'description', 'command', 'url', 'timeout_ms', 'memory_mb', 'allow_private_network'],
    )
    await table(
      'mcp_tools',
      `name TEXT NOT NULL, name_key TEXT NOT NULL, mcp_server_id TEXT NOT NULL, tool TEXT NOT NULL, description TEXT NOT NULL,
        parameters TEXT NOT NULL, requires_confirmation INTEGER NOT NULL`,
      ['name_key', 'mcp_server_id', 'tool', 'description', 'requires_confirmation'],
    )
  },
}
