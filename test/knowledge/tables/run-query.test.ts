import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { extractTables } from '../../../daemon/knowledge/tables/extract-tables.ts'
import { TablePool } from '../../../daemon/knowledge/tables/table-pool.ts'
import { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { createIndexes } from '../../../daemon/tables/sql/create-indexes.ts'
import { runQuery } from '../../../daemon/tables/sql/run-query.ts'
import { WorkerError } from '../../../daemon/workers/worker-error.ts'

const test = suite('queries over tables')
const folder = mkdtempSync(join(tmpdir(), 'cadre-tables-'))
const path = join(folder, 'tables.db')
let file: TableStore

test.before(async () => {
  const writer = TableStore.openForWriting(path)
  const bytes = Buffer.from('Name,Amount\nA,1\nB,2\nC,3\n')
  writer.replace({ id: 'doc_1', name: 'amounts.csv', contentHash: 'x' }, await extractTables(bytes, 'amounts.csv'))
  writer.close()
  file = TableStore.openForReading(path) as TableStore
})
test.after(() => {
  file.close()
  rmSync(folder, { recursive: true, force: true })
})

test('indexes of a table can be read, those of other tables not', async () => {
  const indexed = join(folder, 'indexed.db')
  const writer = TableStore.openForWriting(indexed)
  const bytes = Buffer.from('Name,Amount\nA,1\nB,2\nA,3\n')
  writer.replace({ id: 'doc_1', name: 'amounts.csv', contentHash: 'x' }, await extractTables(bytes, 'amounts.csv'))
  createIndexes(writer.database, 'amounts', writer.listTables()[0]?.columns ?? [])
  const run = (sql: string) => runQuery(writer.database, ['amounts'], sql, 10)
  const plan = writer.database.prepare('EXPLAIN QUERY PLAN SELECT name, sum(amount) FROM amounts GROUP BY name').all()
  assert.match(JSON.stringify(plan), /COVERING INDEX/)
  assert.equal(run('SELECT name, sum(amount) FROM amounts GROUP BY name').rows, [
    ['A', 4],
    ['B', 2],
  ])
  for (const sql of ["SELECT id FROM cadre_documents WHERE id = 'doc_1'", "SELECT id FROM cadre_documents WHERE id = 'doc_1' OR id = 'x'"])
    assert.throws(() => run(sql), /not one of the source/)
  writer.close()
})

const query = (sql: string, maxRows = 10) => runQuery(file.database, ['amounts'], sql, maxRows)

for (const [sql, rows] of [
  [
    'select * from amounts where amount > 1',
    [
      ['B', 2],
      ['C', 3],
    ],
  ],
  ['select sum(amount), round(avg(amount), 1) from amounts; ', [[6, 2]]],
  ['with large as (select * from amounts where amount > 2) select name from large -- the largest', [['C']]],
  ['select 0.1 + 0.2', [[0.3]]],
  ['select name, rank() over (order by amount desc) as place from amounts order by place limit 1', [['C', 1]]],
] as const)
  test(sql, () => {
    assert.equal(query(sql).rows, rows)
  })

for (const sql of [
  "select readfile('/etc/hostname')",
  `select writefile('${join(folder, 'written')}', 'x')`,
  'select * from pragma_database_list',
  'pragma database_list',
  `attach '${join(folder, 'other.db')}' as other`,
  `vacuum into '${join(folder, 'copy.db')}'`,
  'insert into amounts values (1, 2)',
  'delete from amounts returning *',
  'select 1; drop table amounts',
  "select load_extension('x')",
  'select length(randomblob(500000000))',
  "select printf('%1000000000d', 1)",
  "select * from fsdir('/')",
  "select * from cadre_values where value match 'a'",
  'select * from cadre_values_content',
  'select document from cadre_tables',
  'select sql from sqlite_master',
  'select name from sqlite_temp_master',
  "select fts3_tokenizer('simple')",
  'select amount from amounts where exists (select 1 from cadre_documents)',
  'select nothing from amounts',
])
  test(`refused: ${sql}`, () => {
    assert.throws(() => query(sql), /^(?:The query uses|The query cannot be run)/)
    assert.equal(query('select count(*) from amounts').rows, [[3]])
    for (const name of ['written', 'other.db', 'copy.db']) assert.not.ok(existsSync(join(folder, name)))
  })

test('a second statement is never run', () => {
  assert.equal(query('select 1) ; drop table amounts; select * from (select 2').rows, [[1]])
  assert.equal(query('select count(*) from amounts').rows, [[3]])
})

test('more rows than allowed are cut', () => {
  const { rows, isCut } = query('select * from amounts', 2)
  assert.is(rows.length, 2)
  assert.ok(isCut)
})

test('a query that does not end is killed, and the next one is answered', async () => {
  const pool = new TablePool({ memoryMb: 400 })
  const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'
  const run = (sql: string, timeoutMs: number) => pool.run({ kind: 'query', path, sql, maxRows: 10 }, { timeoutMs })
  try {
    await run(endless, 300)
    assert.unreachable()
  } catch (error) {
    assert.instance(error, WorkerError)
    assert.is((error as WorkerError).problem, 'timeout')
  }
  assert.equal((await run('select max(amount) from amounts', 60_000)).rows, [[3]])
  await pool.close()
})

test.run()
