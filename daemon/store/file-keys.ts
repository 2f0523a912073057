/** Keys that distinguish resources with the same name in files applied as code. */
import { type DatabaseReader, runLater, type Transaction } from './database.ts'

export async function listFileKeys(reader: DatabaseReader): Promise<Map<string, string>> {
  const rows = await reader.all<{ id: string; key: string }>('SELECT id, key FROM file_keys')
  return new Map(rows.map(({ id, key }) => [id, key]))
}

export async function insertFileKey(transaction: Transaction, id: string, key: string): Promise<void> {
  await transaction.run('INSERT INTO file_keys (id, key) VALUES (?, ?)', [id, key])
}

export async function deleteFileKey(transaction: Transaction, id: string): Promise<void> {
  await runLater(transaction, 'DELETE FROM file_keys WHERE id = ?', [id])
}
