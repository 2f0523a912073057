/** Database records of MCP servers; environment variables, headers, credentials and OAuth tokens are encrypted. */
import type { Static } from 'typebox'
import { McpServer, type McpServerCreate, type McpServerUpdate } from '../../src/contract/families/mcp/mcp-servers.ts'
import { createOneTimeTexts } from '../core/one-time-texts.ts'
import type { Database, DatabaseReader } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type McpServerInput = Static<typeof McpServerCreate> | Static<typeof McpServerUpdate>
export type StoredMcpServer = Static<typeof McpServer> & StoredRecord & { secrets: string | null; oauth: string | null }

export const mcpServerRecords = new Records<StoredMcpServer>({ table: 'mcp_servers', schema: McpServer, hidden: ['secrets', 'oauth'] })

/** Tokens are refreshed while the server is used, so they do not change its version. */
export async function saveOAuthState(database: Database, id: string, sealed: string | null): Promise<void> {
  await database.write((transaction) => transaction.run('UPDATE mcp_servers SET oauth = ? WHERE id = ?', [sealed, id]))
}

export async function readOAuthState(reader: DatabaseReader, id: string): Promise<string | null> {
  const row = await reader.get<{ oauth: string | null }>('SELECT oauth FROM mcp_servers WHERE id = ?', [id])
  return row?.oauth ?? null
}

/** Sign-ins that wait for their redirect. A sign-in ends with the first one. */
export const signIns = createOneTimeTexts({ table: 'oauth_sign_ins', column: 'session', most: 100 })
