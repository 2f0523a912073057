/** The migration interface, and the table layout shared by all families. */
import type { Transaction } from './database.ts'

export interface Migration {
  name: string
  up(transaction: Transaction): Promise<void>
}

/** Creates a family's table with an index per sortable column and triggers that count its rows. */
export async function createResourceTable(
  transaction: Transaction,
  name: string,
  columns: string,
  indexed: readonly string[],
): Promise<void> {
  await transaction.run(
    `CREATE TABLE ${name} (id TEXT PRIMARY KEY, ${columns}, version INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT NULL, updated_at
      TEXT NOT NULL) WITHOUT ROWID`,
  )
  await transaction.run(`CREATE INDEX ${name}_by_created_at ON ${name} (created_at, id)`)
  for (const column of [...indexed, 'updated_at'])
    await transaction.run(`CREATE INDEX ${name}_by_${column} ON ${name} (${column}, created_at, id)`)
  await transaction.run(`INSERT INTO counts (name, total) VALUES ('${name}', 0)`)
  await transaction.run(
    `CREATE TRIGGER ${name}_counted AFTER INSERT ON ${name} BEGIN UPDATE counts SET total = total + 1 WHERE name = '${name}'; END`,
  )
  await transaction.run(
    `CREATE TRIGGER ${name}_uncounted AFTER DELETE ON ${name} BEGIN UPDATE counts SET total = total - 1 WHERE name = '${name}'; END`,
  )
}
