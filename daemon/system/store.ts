/** Stores settings and reads resource counts. */
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import type { Settings } from '../../src/contract/families/system.ts'
import type { DatabaseReader, Transaction } from '../store/database.ts'
import { replaceLinks } from '../store/links.ts'

export async function readSettings(reader: DatabaseReader): Promise<Settings> {
  const row = await reader.get<Settings>(
    "SELECT default_model_id, conversation_idle_minutes, daily_backups, currency FROM settings WHERE id = 'settings'",
  )
  if (!row) throw new Error('The database has no settings.')
  return row
}

/** Links the default model. If it is deleted, the embedded model becomes the default. */
export async function writeSettings(transaction: Transaction, settings: Settings): Promise<void> {
  const { default_model_id, conversation_idle_minutes, daily_backups, currency } = settings
  await transaction.run(
    `UPDATE settings SET default_model_id = ?, conversation_idle_minutes = ?, daily_backups = ?, currency = ?, version = version + 1,
      updated_at = ? WHERE id = 'settings'`,
    [default_model_id, conversation_idle_minutes, daily_backups, currency, new Date().toISOString()],
  )
  const link = { field: 'default_model_id', target: default_model_id, detach: { kind: 'value' as const, value: EMBEDDED_MODEL_ID } }
  await replaceLinks(
    transaction,
    { family: 'settings', id: 'settings', name: 'default model' },
    default_model_id === EMBEDDED_MODEL_ID ? [] : [link],
  )
}

export async function recordBackup(transaction: Transaction, createdAt: string): Promise<void> {
  await transaction.run("UPDATE settings SET last_backup_at = ? WHERE id = 'settings'", [createdAt])
}

export async function readLastBackup(reader: DatabaseReader): Promise<string | null> {
  return (await reader.get<{ last_backup_at: string | null }>('SELECT last_backup_at FROM settings'))?.last_backup_at ?? null
}

export async function readCounts(reader: DatabaseReader): Promise<Record<string, number>> {
  const rows = await reader.all<{ name: string; total: number }>('SELECT name, total FROM counts ORDER BY name')
  return Object.fromEntries(rows.map(({ name, total }) => [name, total]))
}
