/** Copies the records of a database to another one. A copy that was interrupted is continued. */
import { createHash } from 'node:crypto'
import { CadreError } from '../../../src/contract/errors.ts'
import { type Database, type DatabaseReader, listColumn, type Row, runLater, type Transaction, type Value } from '../database.ts'
import { isBlank, MIGRATIONS, migrate, UNFINISHED_COPY } from '../migrate.ts'

const ROWS_PER_BATCH = 500
/** What belongs to running daemons, and the full-text index of messages, which is built again. */
const NOT_COPIED = new Set([
  ...['migrations', 'commits', 'daemons', 'leases', 'rate_limits', 'vault', 'daemon_requests', 'reply_events', 'copied_tables'],
  ...['searchable_messages', 'searchable_conversations', 'messages_to_index'],
])

interface Table {
  name: string
  columns: readonly string[]
  /** The columns that identify a row. */
  keys: readonly string[]
}

interface CopyProgress {
  label: string
  done: number
  total: number
  unit: string
}

export type ReportProgress = (progress: CopyProgress) => void

/** Returns the number of copied rows. The source is not changed. `finish` is part of the last transaction. */
export async function copyRecords(
  source: Database,
  target: Database,
  report: ReportProgress,
  finish: (transaction: Transaction) => Promise<void>,
): Promise<number> {
  const origin = await readOrigin(source)
  await prepareTarget(target, origin)
  const tables = await listTables(source)
  const counts = await Promise.all(tables.map((table) => countRows(source, table)))
  const total = counts.reduce((sum, count) => sum + count, 0)
  const triggers = await listTriggers(source)
  // They would count the copied rows again.
  await target.write(async (transaction) => {
    for (const { name } of triggers) await runLater(transaction, `DROP TRIGGER IF EXISTS ${quote(name)}`)
  })
  let done = 0
  for (const table of tables)
    done += await copyTable(source, target, table, (rows) => report({ label: 'Copying records', done: done + rows, total, unit: 'rows' }))
  await verifyTables(source, target, tables, (rows) => report({ label: 'Verifying records', done: rows, total, unit: 'rows' }))
  await target.write(async (transaction) => {
    for (const { sql } of triggers) await runLater(transaction, sql)
    await runLater(transaction, 'DELETE FROM messages_to_index')
    await runLater(transaction, "INSERT INTO messages_to_index SELECT '', id FROM messages ORDER BY id DESC LIMIT 1")
    await finish(transaction)
    await runLater(transaction, 'DROP TABLE copied_tables')
    await runLater(transaction, 'DELETE FROM migrations WHERE name = ?', [UNFINISHED_COPY])
  })
  return total
}

/** Identifies a database: the time of its first migration. Throws if it is empty or has the tables of another version. */
async function readOrigin(source: Database): Promise<string> {
  if (await isBlank(source)) throw new CadreError('NOT_FOUND', `${source.location} has no records to copy.`)
  const rows = await source.all<{ name: string; applied_at: string }>('SELECT name, applied_at FROM migrations ORDER BY name')
  if (rows.length !== MIGRATIONS.length || rows.some(({ name }, position) => name !== MIGRATIONS[position]?.name))
    throw new CadreError('CONFLICT', `${source.location} was written by another version of Cadre.`, {
      hint: 'Start and stop the daemon of this version once, then copy again.',
    })
  return `${rows[0]?.applied_at} ${rows.length}`
}

async function prepareTarget(target: Database, origin: string): Promise<void> {
  if (await isBlank(target)) {
    await migrate(target)
    await target.write(async (transaction) => {
      await runLater(transaction, 'CREATE TABLE IF NOT EXISTS copied_tables (name TEXT PRIMARY KEY, position TEXT NOT NULL)')
      await runLater(transaction, 'INSERT INTO migrations (name, applied_at) VALUES (?, ?)', [UNFINISHED_COPY, origin])
    })
    return
  }
  const hasMigrations = await target.get("SELECT 1 FROM sqlite_master WHERE name = 'migrations'")
  const sql = 'SELECT applied_at FROM migrations WHERE name = ?'
  const unfinished = hasMigrations ? await target.get<{ applied_at: string }>(sql, [UNFINISHED_COPY]) : undefined
  if (unfinished?.applied_at === origin) return
  throw new CadreError('CONFLICT', `The database ${target.location} is not empty.`, {
    hint: unfinished ? 'It has an unfinished copy of another database. Choose an empty database.' : 'Choose an empty database.',
  })
}

async function listTables(source: DatabaseReader): Promise<Table[]> {
  const names = await listColumn(
    source,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'message_words*' ORDER BY name",
  )
  const tables: Table[] = []
  for (const name of names) {
    if (NOT_COPIED.has(name) || name.startsWith('libsql_') || name.startsWith('_')) continue
    const columns = await source.all<{ name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?)', [name])
    const keys = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
    const identified = keys.length > 0 ? keys.map((key) => key.name) : ['rowid']
    tables.push({ name, columns: [...(keys.length > 0 ? [] : ['rowid']), ...columns.map((column) => column.name)], keys: identified })
  }
  return tables
}

const listTriggers = (source: DatabaseReader) =>
  source.all<{ name: string; sql: string }>("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")

const countRows = async (reader: DatabaseReader, { name }: Table): Promise<number> =>
  (await reader.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${quote(name)}`))?.rows ?? 0

/** The position is stored in the transaction of its rows. Returns the number of rows that are copied. */
async function copyTable(source: Database, target: Database, table: Table, report: (rows: number) => void): Promise<number> {
  const stored = await target.get<{ position: string }>('SELECT position FROM copied_tables WHERE name = ?', [table.name])
  let rows = stored ? await countRows(target, table) : 0
  // Rows that the migrations add to an empty database are replaced.
  if (!stored) await target.write((transaction) => transaction.run(`DELETE FROM ${quote(table.name)}`))
  const names = table.columns.map(quote).join(', ')
  const insert = `INSERT INTO ${quote(table.name)} (${names}) VALUES (${table.columns.map(() => '?').join(', ')})`
  for await (const batch of readRows(source, table, stored && (JSON.parse(stored.position) as Value[]))) {
    const last = batch.at(-1) as Row
    await target.write(async (transaction) => {
      for (const row of batch)
        await runLater(
          transaction,
          insert,
          table.columns.map((column) => row[column] as Value),
        )
      await runLater(transaction, 'INSERT OR REPLACE INTO copied_tables (name, position) VALUES (?, ?)', [
        table.name,
        JSON.stringify(table.keys.map((key) => last[key])),
      ])
    })
    rows += batch.length
    report(rows)
  }
  return rows
}

async function* readRows(reader: DatabaseReader, { name, columns, keys }: Table, after?: readonly Value[]): AsyncGenerator<Row[]> {
  const order = keys.map(quote).join(', ')
  let last = after
  for (;;) {
    const condition = last ? `WHERE (${order}) > (${keys.map(() => '?').join(', ')})` : ''
    const sql = `SELECT ${columns.map(quote).join(', ')} FROM ${quote(name)} ${condition} ORDER BY ${order} LIMIT ${ROWS_PER_BATCH}`
    const rows = await reader.all(sql, last ?? [])
    if (rows.length > 0) yield rows
    if (rows.length < ROWS_PER_BATCH) return
    const end = rows.at(-1) as Row
    last = keys.map((key) => end[key] as Value)
  }
}

async function verifyTables(
  source: DatabaseReader,
  target: DatabaseReader,
  tables: readonly Table[],
  report: (rows: number) => void,
): Promise<void> {
  let verified = 0
  for (const table of tables) {
    const [expected, found] = await Promise.all([source, target].map((reader) => hashRows(reader, table)))
    if (expected?.digest !== found?.digest)
      throw new CadreError('INTERNAL', `The copy of the table ${table.name} differs: ${found?.rows} of ${expected?.rows} rows.`, {
        hint: 'Empty the target and copy again. If it persists, this is a bug.',
      })
    verified += expected?.rows ?? 0
    report(verified)
  }
}

async function hashRows(reader: DatabaseReader, table: Table): Promise<{ rows: number; digest: string }> {
  const digest = createHash('sha256')
  let rows = 0
  for await (const batch of readRows(reader, table)) {
    for (const row of batch) digest.update(JSON.stringify(table.columns.map((column) => row[column])))
    rows += batch.length
  }
  return { rows, digest: digest.digest('hex') }
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
