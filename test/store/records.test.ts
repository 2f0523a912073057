import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agentRecords, type StoredAgent } from '../../daemon/agents/store.ts'
import { type Database, openDatabase } from '../../daemon/store/database.ts'
import { migrate } from '../../daemon/store/migrate.ts'
import { webhookRecords } from '../../daemon/webhooks/store.ts'
import { reportFailure } from '../harness/hooks.ts'

const test = suite('records')
let root: string
let database: Database

test.before(
  reportFailure(async () => {
    root = mkdtempSync(join(tmpdir(), 'cadre-records-'))
    database = openDatabase(join(root, 'cadre.db'))
    await migrate(database)
  }),
)
test.after(
  reportFailure(async () => {
    await database.close()
    rmSync(root, { recursive: true, force: true })
  }),
)

let createdCount = 0
function createAgent(fields: Partial<StoredAgent> = {}): StoredAgent {
  const now = new Date().toISOString()
  const blank = {
    description: '',
    system_prompt: '',
    model_id: null,
    temperature: null,
    max_tokens: null,
    tools: [],
    allowed_tools: [],
    memory: false,
    topics: [],
    prompt_template_id: null,
    variables: {},
  }
  return {
    id: `agent_${String(++createdCount).padStart(6, '0')}`,
    name: 'n',
    ...blank,
    version: 1,
    created_at: now,
    updated_at: now,
    ...fields,
  }
}
const insert = (...records: StoredAgent[]) =>
  database.write(async (transaction) => {
    for (const record of records) await agentRecords.insert(transaction, record)
  })
const getListTotal = async () => (await agentRecords.list(database, { limit: 1 })).total
const countRows = async () => (await database.get<{ total: number }>('SELECT count(*) AS total FROM agents'))?.total

test('records keep lists, objects, numbers and null', async () => {
  const record = createAgent({
    tools: ['a', 'b"c'],
    variables: { deep: { list: [1, null, true, 'ü'] } },
    temperature: 0.1,
    max_tokens: 9_007_199,
    model_id: null,
    topics: [{ name: 't', description: '' }],
  })
  await insert(record)
  assert.equal(await agentRecords.get(database, record.id), record)
  assert.is(await agentRecords.get(database, 'nobody'), undefined)
})

test('booleans are stored and filtered as booleans', async () => {
  const now = new Date().toISOString()
  const hook = {
    id: 'hook_1',
    url: 'https://x.example',
    events: ['conversation.completed' as const],
    description: '',
    enabled: false,
    allow_private_network: true,
    secret: 's',
    previous_secrets: '[]',
    version: 1,
    created_at: now,
    updated_at: now,
  }
  await database.write((transaction) => webhookRecords.insert(transaction, hook))
  assert.equal(await webhookRecords.get(database, 'hook_1'), hook)
  assert.is((await webhookRecords.list(database, { enabled: false })).total, 1)
  assert.is((await webhookRecords.list(database, { enabled: true })).total, 0)
})

test('values that look like SQL are bound as values', async () => {
  const names = [
    "'; DROP TABLE agents; --",
    "' OR '1'='1",
    '" OR 1=1 --',
    '?',
    ':name',
    '%',
    '_',
    '\\',
    "x') UNION SELECT hash FROM tokens --",
    '${1}',
    '\n;',
  ]
  await insert(...names.map((name) => createAgent({ name, description: 'injection' })))
  for (const name of names) {
    const { items, total: found } = await agentRecords.list(database, { name, description: 'injection' })
    assert.equal([found, items.map((item) => item.name)], [1, [name]])
  }
})

test('unknown column names never reach SQL', async () => {
  for (const query of [{ 'name" = "" OR 1=1 --': 'x' }, { nothing: 1 }, { sort: 'id; DROP TABLE agents' }, { sort: '1' }]) {
    let error: Error | undefined
    await agentRecords.list(database, query as never).catch((thrown: Error) => {
      error = thrown
    })
    assert.match(error?.message ?? '', /has no column/)
  }
})

test('a filter that contradicts the scope matches nothing', async () => {
  await insert(createAgent({ name: 'mine', description: 'scope' }), createAgent({ name: 'theirs', description: 'scope' }))
  const scope = { name: 'mine' }
  assert.is((await agentRecords.list(database, { description: 'scope' }, scope)).total, 1)
  assert.is((await agentRecords.list(database, { description: 'scope', name: 'mine' }, scope)).total, 1)
  assert.equal(await agentRecords.list(database, { description: 'scope', name: 'theirs' }, scope), { items: [], total: 0 })
})

test('totals stay correct across inserts, deletes and rollbacks', async () => {
  const records = Array.from({ length: 300 }, () => createAgent())
  await insert(...records)
  assert.is(await getListTotal(), await countRows())
  for (let index = 0; index < 300; index += 3)
    await database.write((transaction) => agentRecords.delete(transaction, records[index]?.id ?? ''))
  await database.write((transaction) => agentRecords.delete(transaction, 'nobody'))
  assert.is(await getListTotal(), await countRows())
  const before = await getListTotal()
  await database
    .write(async (transaction) => {
      for (let index = 0; index < 50; index++) await agentRecords.insert(transaction, createAgent())
      await transaction.run('DELETE FROM agents WHERE id > ?', ['agent_000100'])
      throw new Error('changed my mind')
    })
    .catch(() => undefined)
  assert.is(await getListTotal(), before)
  assert.is(await countRows(), before)
})

test('a failed transaction leaves no rows and does not affect the next one', async () => {
  const record = createAgent()
  let error: Error | undefined
  await database
    .write(async (transaction) => {
      await agentRecords.insert(transaction, record)
      await agentRecords.insert(transaction, record)
    })
    .catch((thrown: Error) => {
      error = thrown
    })
  assert.match(error?.message ?? '', /UNIQUE|constraint/i)
  assert.is(await agentRecords.get(database, record.id), undefined)
  await insert(record)
  assert.ok(await agentRecords.get(database, record.id))
})

test('readers see a transaction only after its commit', async () => {
  const record = createAgent()
  await database.write(async (transaction) => {
    await agentRecords.insert(transaction, record)
    assert.ok(await agentRecords.get(transaction, record.id))
    assert.is(await agentRecords.get(database, record.id), undefined)
  })
  assert.ok(await agentRecords.get(database, record.id))
})

test('transactions run one after another in order', async () => {
  const order: number[] = []
  await Promise.all(
    [30, 5, 1].map((ms, index) =>
      database.write(async () => {
        await new Promise((resolve) => setTimeout(resolve, ms))
        order.push(index)
      }),
    ),
  )
  assert.equal(order, [0, 1, 2])
})

test('an update of a stale version changes nothing', async () => {
  const record = createAgent()
  await insert(record)
  const update = (change: Partial<StoredAgent>) =>
    database.write((transaction) => agentRecords.update(transaction, { ...record, ...change }))
  assert.is(await update({ name: 'first' }), true)
  assert.is(await update({ name: 'second' }), false)
  const now = await agentRecords.get(database, record.id)
  assert.equal([now?.name, now?.version], ['first', 2])
})

test('readers cannot write', async () => {
  let error: Error | undefined
  await database.all('DELETE FROM agents').catch((thrown: Error) => {
    error = thrown
  })
  assert.ok(error)
})

test.run()
