/** Database records of MCP servers; environment variables, headers, credentials and OAuth tokens are encrypted. */
import type { Static } from 'typebox'
import { McpServer, type McpServerCreate, type McpServerUpdate } from '../../src/contract/families/mcp/mcp-servers.ts'
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

const MAX_SIGN_INS = 100

/** The oldest are forgotten if there are too many. */
export async function insertSignIn(database: Database, state: string, sealed: string, expiresAt: number): Promise<void> {
  const kept = 'SELECT state FROM oauth_sign_ins WHERE expires_at > ? ORDER BY expires_at DESC LIMIT ?'
  await database.write(async (transaction) => {
    await transaction.run(`DELETE FROM oauth_sign_ins WHERE state NOT IN (${kept})`, [Date.now(), MAX_SIGN_INS - 1])
    await transaction.run('INSERT INTO oauth_sign_ins (state, session, expires_at) VALUES (?, ?, ?)', [state, sealed, expiresAt])
  })
}

/** A sign-in ends with its first redirect, on whichever daemon. */
export async function takeSignIn(database: Database, state: string): Promise<string | undefined> {
  const sql = 'DELETE FROM oauth_sign_ins WHERE state = ? AND expires_at > ? RETURNING session'
  return (await database.write((transaction) => transaction.get<{ session: string }>(sql, [state, Date.now()])))?.session
}
