/** Tables of documents for questions, in a file of their own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { extractTables } from '../../../daemon/knowledge/tables/extract-tables.ts'
import { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'

/** Returns the tables of documents (text by name), and a function that closes and removes them. */
export async function openTables(documents: Readonly<Record<string, string>>): Promise<{ file: TableStore; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-tables-'))
  const path = join(folder, 'tables.db')
  const writer = TableStore.openForWriting(path)
  for (const [name, text] of Object.entries(documents))
    writer.replace({ id: name, name, contentHash: name }, await extractTables(Buffer.from(text), name))
  writer.close()
  const file = TableStore.openForReading(path) as TableStore
  return {
    file,
    remove: () => {
      file.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
