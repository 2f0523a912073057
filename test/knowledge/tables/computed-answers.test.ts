import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { removeRowsUsed } from '../../../daemon/evaluations/score-text.ts'
import { SourceTables } from '../../../daemon/knowledge/tables/source-tables.ts'
import { BUILDERS, selectBuilder } from '../../../daemon/knowledge/tables/table-limits.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { connectTestDatabase } from '../../harness/sqld/test-database.ts'
import type { Json } from '../../harness/test-server.ts'
import { TABLES } from '../../tables/business-tables.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const test = suite('answers computed from tables')
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
let knowledge: KnowledgeFixture
let source: Json
let tool: Json

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    source = await knowledge.createSyncedSource({
      'orders.csv': TABLES['orders.csv'] as string,
      'invoices.md': TABLES['invoices.md'] as string,
      'leave.md': '# Leave\n\nEvery employee has twenty-five days of paid annual leave.',
    })
    tool = await knowledge.resources.ragTool({ knowledge_source_id: source.id })
    await knowledge.waitForSync(source.id)
  }),
)
test.after(reportFailure(() => knowledge.close()))

const ask = async (query: string): Promise<Json> => expectData(knowledge.service.post(`/rag-tools/${tool.id}/query`, { query }))
const listTables = async (id = source.id): Promise<Json[]> =>
  (await expectData(knowledge.service.get(`/knowledge-sources/${id}/tables`))).tables
const query = (sql: string) => knowledge.service.post(`/knowledge-sources/${source.id}/tables/query`, { sql })

test('a table of a text about something else answers nothing', async () => {
  const files = ['readers', 'archives', 'images'].map((name) => [
    `${name}.md`,
    `# Files\n\nOf ${name}, the largest file that Cadre reads has ${name.length} MB.`,
  ])
  const figures = '# Figures\n\n| Measured | Reading before |\n|---|---|\n| right answers | 0.85 |\n| refusals | 0.62 |'
  const { id } = await knowledge.createSyncedSource({ ...Object.fromEntries(files), 'figures.md': figures })
  const reading = await knowledge.resources.ragTool({ knowledge_source_id: id })
  await knowledge.waitForSync(id)
  const askFigures = async (text: string) =>
    (await expectData(knowledge.service.post(`/rag-tools/${reading.id}/query`, { query: text }))).answer
  assert.match(await askFigures('What is the largest file that it reads?'), /largest file that Cadre reads/)
  assert.match(await askFigures('Which measured figure has the largest reading before?'), /right answers/)
})

test('a count is computed, with its interpretation, the rows used and the query', async () => {
  const { answer, computation, results } = await ask('How many orders were cancelled?')
  assert.match(
    answer,
    /^\*\*3\*\*\n\nCounted the rows of orders\.csv where Status is cancelled\. \[\d\]\n\nRows used, of orders\.csv:\n\n\| Row \|/,
  )
  assert.match(answer, /\| 2 \| 1002 \| Globex \|/)
  assert.match(removeRowsUsed(answer), /^\*\*3\*\*\n\nCounted the rows of .* \[\d\]\s*$/, 'evaluations score the answer without the rows')
  const [, number] = /\[(\d)\]/.exec(answer) ?? []
  const { content, metadata } = results[Number(number) - 1]
  assert.equal([metadata.source, metadata.place], ['orders.csv', 'rows 2, 7 and 8'])
  assert.match(content, /^Row 2: Order ID: 1002 \| Customer: Globex \|/)
  const [{ rows_used, ...query }] = computation
  assert.is(computation.length, 1)
  assert.is(rows_used.count, 3)
  assert.equal(rows_used.columns.slice(0, 2), ['Order ID', 'Customer'])
  assert.equal(
    rows_used.first.map(({ row, cells }: Json) => [row, cells[0]]),
    [
      [2, 1002],
      [7, 1007],
      [8, 1008],
    ],
  )
  assert.equal(query, {
    sql: "SELECT COUNT(*) FROM orders WHERE status = 'cancelled'",
    table: 'orders',
    document: 'orders.csv',
    interpretation: 'Counted the rows of orders.csv where Status is cancelled.',
    rows: [[3]],
  })
})

test('more rows than are shown are counted', async () => {
  const { answer, computation } = await ask('How many orders are there?')
  assert.match(answer, /\n\nThe first 5 of 12 rows used, of orders\.csv:\n\n/)
  assert.is(computation[0].rows_used.count, 12)
})

test('a list of rows is a table', async () => {
  const { answer } = await ask('List all orders from Italy')
  assert.match(answer, /^\*\*2 rows\*\*\n\n\| Order ID \| Customer \|.*\n\|---.*\n\| 1007 \| Hooli \|.*\n\| 1011 \| Hooli \|/)
})

test('groups are a table with the names of their columns', async () => {
  assert.match((await ask('How many orders per country?')).answer, /\n\| Country \| Rows \|\n\|---\|---\|\n\| Germany \| 5 \|/)
})

test('sums of money are exact and have their unit', async () => {
  assert.match((await ask('What is the total for CloudHost?')).answer, /^\*\*5,670 EUR\*\*/)
})

test('a question about a text is answered with a quote', async () => {
  const { answer, computation } = await ask('How many days of annual leave do I have?')
  assert.match(answer, /twenty-five days/)
  assert.is(computation, undefined)
})

test('a text that is too long for a question is not computed', async () => {
  const { computation } = await ask(`How many orders were cancelled? ${'how much do we make '.repeat(30)}`)
  assert.equal(computation ?? [], [])
})

test('a question about a table that cannot be computed says what was understood and what not', async () => {
  const { answer, computation, confidence } = await ask('What is the growth of the amount of cancelled orders?')
  assert.match(answer, /^This is a question about orders\.csv, but I cannot compute it\. I understood the table, /)
  assert.match(answer, /Status is cancelled.*; I did not understand "growth"\./)
  assert.match(answer, /names of its columns \(Order ID, Customer, /)
  assert.equal([computation, confidence], [undefined, 'none'])
})

test('a word that the table does not have is taken to mean the most similar name, and the answer is probable', async () => {
  const { answer, computation, confidence } = await ask('How many orders were revoked?')
  assert.match(
    answer,
    /^Probably: \*\*3\*\*\n\nCounted the rows of orders\.csv where Status is cancelled\. “revoked” was taken to mean cancelled\./,
  )
  assert.is(computation.length, 1)
  assert.is(confidence, 'probable')
})

test('an agent with the embedded model computes, too', async () => {
  const agent = await knowledge.resources.agent({ tools: [tool.id] })
  const conversation = await expectData(knowledge.service.post('/conversations', { agent_id: agent.id }), 201)
  const message = await expectData(
    knowledge.service.post(`/conversations/${conversation.id}/messages`, { message: 'How many orders were cancelled?' }),
  )
  assert.match(JSON.stringify(message), /\*\*3\*\*/)
  const [{ name, arguments: args, result }] = message.tool_calls
  assert.equal([name, args.sql], ['query_table', "SELECT COUNT(*) FROM orders WHERE status = 'cancelled'"])
  assert.is(result.interpretation, 'Counted the rows of orders.csv where Status is cancelled.')
})

test('tables are listed with the types of their columns', async () => {
  const tables = await listTables()
  assert.equal(
    tables.map(({ name, document, rows }) => [name, document, rows]),
    [
      ['invoices', 'invoices.md', 7],
      ['orders', 'orders.csv', 12],
    ],
  )
  assert.equal(tables[0]?.columns[2], { name: 'total', header: 'Total', type: 'currency', unit: 'EUR', text_name: 'total_text' })
})

test('a query returns rows, and a wrong one says what is wrong', async () => {
  assert.equal(await expectData(query('select country, count(*) as n from orders group by country order by n desc limit 1')), {
    columns: ['country', 'n'],
    rows: [['Germany', 5]],
    truncated: false,
  })
  await expectError(query('drop table orders'), 'VALIDATION_ERROR', { error: /^The query cannot be run/, hint: /one SELECT/ })
})

test('a document says what was left out of its tables', async () => {
  const columns = Array.from({ length: 201 }, (_, index) => `Column ${index}`)
  const row = columns.map((_, index) => index).join(',')
  const own = await knowledge.createSyncedSource({ 'wide.csv': `${columns.join(',')}\n${row}\n${row}\n` })
  const [table] = await listTables(own.id)
  assert.is(table?.columns.length, 200)
  const { notice } = await knowledge.getDocument(own.id, 'wide.csv')
  assert.is(notice, 'Tables: Only the first 200 of 201 columns can be computed with.')
  const { left_out } = await expectData(knowledge.service.get(`/knowledge-sources/${own.id}/tables`))
  assert.equal(
    left_out.map(({ document, notice }: Json) => [document, notice]),
    [['wide.csv', 'Only the first 200 of 201 columns can be computed with.']],
  )
})

test('a small document can make the process that builds tables use 320 MB at most, beside the daemon and its parsers', () => {
  const megabyte = 1024 * 1024
  assert.equal(
    [0, 4 * megabyte, 5 * megabyte, 50 * megabyte, 51 * megabyte].map((size) => BUILDERS[selectBuilder(size)]),
    [320, 320, 640, 640, 1_536],
  )
})

test('a document whose tables need too much memory says so, and is not tried again', async () => {
  const own = await knowledge.createSyncedSource({ 'a.json': '[{"a": 1, "b": 2}, {"a": 3, "b": 4}]' })
  const [database, workDirectory] = [connectTestDatabase(knowledge.service.paths), mkdtempSync(join(tmpdir(), 'cadre-tables-'))]
  let reads = 0
  const provide = async () => {
    reads++
    return Buffer.from(`[${'{"a": "x", "b": "y"},'.repeat(400_000)}{}]`)
  }
  const tables = new SourceTables({
    database,
    originals: { provide },
    logger: SILENT,
    workDirectory,
    embed: async () => [],
    builderMb: { ...BUILDERS, small: 48 },
  })
  try {
    await tables.update(own.id)
    const notice = 'None of its tables can be computed with: building them needed too much memory.'
    assert.is((await knowledge.getDocument(own.id, 'a.json')).notice, `Tables: ${notice}`)
    assert.equal(
      (await tables.list(own.id)).leftOut.map((document) => document.notice),
      [notice],
    )
    tables.forget(own.id)
    await tables.update(own.id)
    assert.is(reads, 1)
  } finally {
    await tables.close()
    await database.close()
    rmSync(workDirectory, { recursive: true, force: true })
  }
})

test('what has no room is named: columns, tables of a document, tables of a source; they are built when there is room', async () => {
  const record = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`key ${index}`, index]))
  const table = '| A | B |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n'
  const own = await knowledge.createSyncedSource({
    'a.json': JSON.stringify([record, record]),
    'b.md': table.repeat(201),
    'c.md': table.repeat(199),
    'd.md': table.repeat(99),
    'e.md': table.repeat(3),
  })
  assert.is((await listTables(own.id)).length, 500)
  const readNotice = async (name: string) => (await knowledge.getDocument(own.id, name)).notice
  assert.is(await readNotice('a.json'), 'Tables: Only the first 200 of 600 columns can be computed with.')
  const cut = 'tables can be computed with'
  assert.is(await readNotice('b.md'), `Tables: Only the first 200 of its 201 ${cut}: a document can have 200.`)
  assert.is(await readNotice('e.md'), `Tables: Only the first 1 of its 3 ${cut}: a source can have 500.`)
  const { id } = await knowledge.getDocument(own.id, 'b.md')
  await knowledge.service.delete(`/knowledge-sources/${own.id}/documents/${id}`)
  assert.is((await listTables(own.id)).length, 302)
  assert.is(await readNotice('e.md'), null)
})

test('tables that are missing, as in an older home or a restored backup, are built again', async () => {
  const own = await knowledge.createSyncedSource({ 'a.csv': 'Name,Age\nAnn,30\nBob,40\n' })
  knowledge = await knowledge.restart(() => {
    const folder = join(knowledge.service.paths.home, 'work', own.id)
    assert.ok(readdirSync(folder).includes('tables.db'))
    for (const name of readdirSync(folder)) if (name.startsWith('tables')) rmSync(join(folder, name))
  })
  assert.is((await listTables(own.id))[0]?.rows, 2)
})

test('tables follow their documents', async () => {
  const own = await knowledge.createSyncedSource({ 'a.csv': 'Name,Age\nAnn,30\nBob,40\n', 'notes.md': 'No table.' })
  assert.is((await listTables(own.id))[0]?.rows, 2)
  await knowledge.addDocument(own.id, 'a.csv', 'Name,Age\nAnn,30\nBob,40\nCid,50\n')
  await knowledge.sync(own.id)
  assert.is((await listTables(own.id))[0]?.rows, 3)
  const document = await knowledge.getDocument(own.id, 'a.csv')
  await knowledge.service.delete(`/knowledge-sources/${own.id}/documents/${document.id}`)
  assert.equal(await listTables(own.id), [])
})

test.run()
