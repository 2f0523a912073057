/** Stores texts that are taken once, each under a state that a client or a browser sends back, on whichever daemon. */
import type { Database } from '../store/database.ts'

interface OneTimeTable {
  table: string
  /** The column of the text. */
  column: string
  /** The oldest are deleted if there are more: a client that asks without end must not fill the disk. */
  most: number
}

export const createOneTimeTexts = ({ table, column, most }: OneTimeTable) => ({
  async insert(database: Database, state: string, text: string, expiresAt: number): Promise<void> {
    const kept = `SELECT state FROM ${table} WHERE expires_at > ? ORDER BY expires_at DESC LIMIT ?`
    await database.write(async (transaction) => {
      await transaction.run(`DELETE FROM ${table} WHERE state NOT IN (${kept})`, [Date.now(), most - 1])
      await transaction.run(`INSERT INTO ${table} (state, ${column}, expires_at) VALUES (?, ?, ?)`, [state, text, expiresAt])
    })
  },
  /** Returns undefined if the text has expired or was taken before. */
  async take(database: Database, state: string): Promise<string | undefined> {
    const sql = `DELETE FROM ${table} WHERE state = ? AND expires_at > ? RETURNING ${column} AS text`
    return (await database.write((transaction) => transaction.get<{ text: string }>(sql, [state, Date.now()])))?.text
  },
})
