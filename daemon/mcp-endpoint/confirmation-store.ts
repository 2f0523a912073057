/** Stores the questions that MCP clients ask their users before a call. */
import type { Database } from '../store/database.ts'

/** A client that asks without end must not fill the disk. */
const MAX_CONFIRMATIONS = 1_000

export async function insertConfirmation(database: Database, state: string, call: string, expiresAt: number): Promise<void> {
  const kept = 'SELECT state FROM mcp_confirmations WHERE expires_at > ? ORDER BY expires_at DESC LIMIT ?'
  await database.write(async (transaction) => {
    await transaction.run(`DELETE FROM mcp_confirmations WHERE state NOT IN (${kept})`, [Date.now(), MAX_CONFIRMATIONS - 1])
    await transaction.run('INSERT INTO mcp_confirmations (state, call, expires_at) VALUES (?, ?, ?)', [state, call, expiresAt])
  })
}

/** Returns the call that was asked about. Each question is answered once. */
export async function takeConfirmation(database: Database, state: string): Promise<string | undefined> {
  const sql = 'DELETE FROM mcp_confirmations WHERE state = ? AND expires_at > ? RETURNING call'
  const row = await database.write((transaction) => transaction.get<{ call: string }>(sql, [state, Date.now()]))
  return row?.call
}
