import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, openDatabase } from '../../daemon/store/database.ts'
import { getTableName } from '../../daemon/store/links.ts'
import { MIGRATIONS, migrate } from '../../daemon/store/migrate.ts'
import { Document } from '../../src/contract/families/documents.ts'
import { FAMILIES } from '../../src/contract/routes.ts'
import { getFields } from '../../src/contract/schemas/fields.ts'
import { getSortableFields } from '../../src/contract/schemas/list-query.ts'

/** Fields without a column: they are computed when read. */
const COMPUTED: Record<string, readonly string[]> = {
  'knowledge-sources': ['statistics', 'progress', 'error', 'watching'],
  conversations: ['messages', 'message_count', 'summary'],
}

const test = suite<{ root: string; database: Database }>('migrations')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-migrations-'))
  context.database = openDatabase(join(context.root, 'cadre.db'))
})
test.after.each(async ({ root, database }) => {
  await database.close()
  rmSync(root, { recursive: true, force: true })
})

const createMigration = (name: string, sql: string) => ({
  name,
  up: async (transaction: { run(sql: string): Promise<number> }) => void (await transaction.run(sql)),
})
const listApplied = async (database: Database) =>
  (await database.all<{ name: string }>('SELECT name FROM migrations ORDER BY applied_at, name')).map(({ name }) => name)

test('migrations are applied in order, each once', async ({ database }) => {
  const steps = [createMigration('0001-a', 'CREATE TABLE a (x)'), createMigration('0002-b', 'ALTER TABLE a ADD COLUMN y')]
  await migrate(database, steps)
  await migrate(database, steps)
  assert.equal(await listApplied(database), ['0001-a', '0002-b'])
  await migrate(database, [...steps, createMigration('0003-c', 'CREATE TABLE c (x)')])
  assert.equal(await listApplied(database), ['0001-a', '0002-b', '0003-c'])
})

test('a failed migration is rolled back and stops the start', async ({ database }) => {
  const broken = {
    name: '0002-broken',
    up: async (transaction: { run(sql: string): Promise<number> }) => {
      await transaction.run('CREATE TABLE half (x)')
      await transaction.run('CREATE TABLE a (x)')
    },
  }
  const first = createMigration('0001-a', 'CREATE TABLE a (x)')
  let error: Error | undefined
  await migrate(database, [first, broken]).catch((thrown: Error) => {
    error = thrown
  })
  assert.match(error?.message ?? '', /already exists/)
  assert.equal(await listApplied(database), ['0001-a'])
  assert.equal(await database.all("SELECT name FROM sqlite_master WHERE name = 'half'"), [])
})

test('a database written by a newer version is rejected with a hint', async ({ database }) => {
  await migrate(database)
  await database.write((transaction) => transaction.run("INSERT INTO migrations VALUES ('9999-from-the-future', '2099-01-01')"))
  let error: Error | undefined
  await migrate(database).catch((thrown: Error) => {
    error = thrown
  })
  assert.match(error?.message ?? '', /newer version of Cadre.*9999-from-the-future/)
  assert.match(error?.message ?? '', /Install|CADRE_HOME/)
})

test('migration names are unique and sorted', () => {
  const names = MIGRATIONS.map(({ name }) => name)
  assert.equal(names, [...new Set(names)].sort())
  for (const name of names) assert.match(name, /^\d{4}-[a-z-]+$/)
})

test('every resource field has a column, and every sortable one an index', async ({ database }) => {
  await migrate(database)
  const described = [...FAMILIES.map(({ name, resource }) => ({ name, resource })), { name: 'documents', resource: Document }]
  for (const { name, resource } of described) {
    const table = getTableName(name)
    const columns = (await database.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`)).map((column) => column.name)
    const fields = Object.keys(getFields(resource)).filter((field) => !COMPUTED[name]?.includes(field))
    assert.equal(
      fields.filter((field) => !columns.includes(field)),
      [],
      name,
    )
    if (name === 'documents') continue
    const first = await database.all<{ column: string }>(
      `SELECT i.name AS "column" FROM pragma_index_list('${table}') l JOIN pragma_index_info(l.name) i WHERE i.seqno = 0`,
    )
    const long = ['description', 'system_prompt', 'template', 'limit']
    const sortable = getSortableFields(resource).filter((field) => !COMPUTED[name]?.includes(field) && !long.includes(field))
    assert.equal(
      sortable.filter((field) => !first.some(({ column }) => column === (field === 'name' ? 'name_key' : field))),
      [],
      `${name}: indexes`,
    )
  }
})

test('existing RAG tools rerank after the upgrade, and existing retrieval tools do not', async ({ database }) => {
  await migrate(
    database,
    MIGRATIONS.filter(({ name }) => name < '0015'),
  )
  const fixed = "'2026-01-01', '2026-01-01', 'x', '', 'minilm', 800, 120, 5"
  const columns = 'id, created_at, updated_at, name, description, embedding_model, chunk_size, chunk_overlap, top_k'
  await database.write(async (transaction) => {
    await transaction.run(`INSERT INTO rag_tools (${columns}) VALUES ('rag_1', ${fixed})`)
    const own = 'knowledge_source_ids, search_method, filters'
    await transaction.run(`INSERT INTO retrieval_tools (${columns}, ${own}) VALUES ('ret_1', ${fixed}, '[]', 'hybrid', '{}')`)
  })
  await migrate(database)
  assert.equal(await database.all('SELECT id, rerank FROM rag_tools UNION ALL SELECT id, rerank FROM retrieval_tools'), [
    { id: 'rag_1', rerank: 1 },
    { id: 'ret_1', rerank: 0 },
  ])
})

test('existing names are sorted by their keys, and conversations find their deleted agent in the ledger', async ({ database }) => {
  await migrate(
    database,
    MIGRATIONS.filter(({ name }) => name < '0017'),
  )
  const at = "'2026-01-01', '2026-01-01'"
  await database.write(async (transaction) => {
    for (const [id, name] of ['agent 10', 'Agent 2', 'Ägent 1'].entries())
      await transaction.run(
        `INSERT INTO agents (id, name, description, system_prompt, tools, topics, variables, created_at, updated_at)
          VALUES (?, ?, '', '', '[]', '[]', '{}', ${at})`,
        [String(id), name],
      )
    for (const [id, agent] of [
      ['deleted', null],
      ['unknown', null],
      ['kept', '0'],
    ] as const)
      await transaction.run(
        `INSERT INTO conversations (id, agent_id, user_id, status, created_at, updated_at) VALUES (?, ?, 'ada', 'active', ${at})`,
        [id, agent],
      )
    for (const id of ['deleted', 'kept'])
      await transaction.run(
        `INSERT INTO usage_calls (began_at, id, status, kind, model_id, agent_id, conversation_id, input_tokens, output_tokens,
          cached_tokens, estimated) VALUES ('2026-01-01', ?, 'done', 'chat', 'm', 'agent_x', ?, 1, 1, 0, 0)`,
        [id, id],
      )
  })
  await migrate(database)
  assert.equal(await database.all("SELECT name FROM agents WHERE name_key > '' ORDER BY name_key"), [
    { name: 'Ägent 1' },
    { name: 'Agent 2' },
    { name: 'agent 10' },
  ])
  assert.equal(await database.all('SELECT id, deleted_agent_id FROM conversations ORDER BY id'), [
    { id: 'deleted', deleted_agent_id: 'agent_x' },
    { id: 'kept', deleted_agent_id: null },
    { id: 'unknown', deleted_agent_id: null },
  ])
})

test('the database uses WAL with synchronous NORMAL', async ({ database }) => {
  assert.equal(await database.get('SELECT * FROM pragma_journal_mode'), { journal_mode: 'wal' })
  assert.equal(await database.write((transaction) => transaction.get('SELECT * FROM pragma_synchronous')), { synchronous: 1 })
})

test.run()
