import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { countStartedConversations } from '../../daemon/analytics/store.ts'
import type { DatabaseReader, Value } from '../../daemon/store/database.ts'
import { expectData } from '../harness/expect.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const test = suite<{ service: TestServer; resources: Resources }>('conversation analytics')

test.before.each(async (context) => {
  context.service = await TestServer.start()
  context.resources = new Resources(context.service)
})
test.after.each(({ service }) => service.close())

let written = 0

const run = ({ database }: TestServer, sql: string, values: Value[]) => database.write((transaction) => transaction.run(sql, values))

/** Creates a conversation that started at this time. */
async function conversation(
  { service, resources }: { service: TestServer; resources: Resources },
  at: string,
  fields: object = {},
): Promise<Json> {
  const made = await resources.conversation({ user_id: 'ada', ...fields })
  await run(service, 'UPDATE conversations SET created_at = ? WHERE id = ?', [at, made.id])
  return made
}

async function say(service: TestServer, conversation: string, at: string, details?: object): Promise<string> {
  const id = `msg_${++written}`
  await run(service, 'INSERT INTO messages (id, conversation_id, role, content, details, created_at) VALUES (?, ?, ?, ?, ?, ?)', [
    id,
    conversation,
    details ? 'assistant' : 'user',
    'something',
    JSON.stringify(details ?? {}),
    at,
  ])
  return id
}

const reply = (latency_ms: number, more: object = {}) => ({
  usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  cost: 0.016,
  latency_ms,
  finish_reason: 'stop',
  ...more,
})
const ask = async (service: TestServer, query = '') => expectData(service.get(`/analytics/conversations?${query}`), 200)

test('without conversations all figures are zero or null', async ({ service }) => {
  assert.equal(await ask(service), {
    total_conversations: 0,
    total_messages: 0,
    average_messages_per_conversation: 0,
    active_users: 0,
    completion_rate: null,
    average_response_time_ms: null,
    p95_response_time_ms: null,
    total_tokens: 0,
    total_cost: 0,
    currency: 'USD',
    unpriced_tokens: 0,
    tool_calls: 0,
    by_day: [],
    by_agent: {},
  })
})

test('messages are counted in total, by day and by agent', async (context) => {
  const { service } = context
  const one = await conversation(context, '2026-01-30T10:00:00.000Z')
  const other = await conversation(context, '2026-02-01T10:00:00.000Z', { agent_id: one.agent_id, user_id: 'bob' })
  const quiet = await conversation(context, '2026-02-01T11:00:00.000Z', { user_id: 'cleo' })
  await expectData(service.post(`/conversations/${other.id}/complete`), 200)
  await say(service, one.id, '2026-01-30T10:00:01.000Z')
  await say(service, one.id, '2026-01-30T10:00:02.000Z', reply(1000, { tool_calls: [{ id: 'a' }, { id: 'b' }] }))
  await say(service, other.id, '2026-02-01T10:00:01.000Z')
  await say(service, other.id, '2026-02-01T10:00:02.000Z', reply(3000))
  const { by_day, by_agent, ...totals } = await ask(service, 'start_date=2026-01-30&end_date=2026-02-01')
  assert.equal(totals, {
    total_conversations: 3,
    total_messages: 4,
    average_messages_per_conversation: 1.3333,
    active_users: 2,
    completion_rate: 0.3333,
    average_response_time_ms: 2000,
    p95_response_time_ms: 3000,
    total_tokens: 36,
    total_cost: 0.032,
    currency: 'USD',
    unpriced_tokens: 0,
    tool_calls: 2,
  })
  assert.equal(by_day, [
    { date: '2026-01-30', conversations: 1, messages: 2, tokens: 18 },
    { date: '2026-01-31', conversations: 0, messages: 0, tokens: 0 },
    { date: '2026-02-01', conversations: 2, messages: 2, tokens: 18 },
  ])
  assert.equal(by_agent, {
    [one.agent_id]: { conversations: 2, messages: 4, tokens: 36 },
    [quiet.agent_id]: { conversations: 1, messages: 0, tokens: 0 },
  })
})

test('a date range is exact to the millisecond', async (context) => {
  const { service } = context
  const old = await conversation(context, '2026-01-01T10:00:00.000Z')
  await say(service, old.id, '2026-01-01T10:00:00.000Z')
  for (const at of [
    '2026-01-30T09:59:59.999Z',
    '2026-01-30T10:00:00.000Z',
    '2026-01-31T12:00:00.000Z',
    '2026-02-01T10:00:00.000Z',
    '2026-02-01T10:00:00.001Z',
  ])
    await say(service, old.id, at, reply(Date.parse(at) % 1000))
  const cut = await ask(service, 'start_date=2026-01-30T10:00:00Z&end_date=2026-02-01T10:00:00Z')
  assert.equal(
    [cut.total_conversations, cut.total_messages, cut.active_users, cut.total_tokens, cut.p95_response_time_ms],
    [1, 3, 0, 54, 0],
  )
  assert.equal(
    cut.by_day.map(({ messages }: Json) => messages),
    [1, 1, 1],
  )
  const day = await ask(service, 'start_date=2026-01-31&end_date=2026-01-31')
  assert.equal([day.total_conversations, day.total_messages, day.by_day.length], [1, 1, 1])
  const before = await ask(service, 'end_date=2025-12-31')
  assert.equal([before.total_conversations, before.total_messages], [0, 0])
})

test('analytics can be filtered by agent', async (context) => {
  const { service } = context
  const one = await conversation(context, '2026-01-30T10:00:00.000Z')
  const other = await conversation(context, '2026-01-30T10:00:00.000Z', { user_id: 'bob' })
  await say(service, one.id, '2026-01-30T10:00:01.000Z', reply(100))
  await say(service, other.id, '2026-01-30T10:00:01.000Z')
  await say(service, other.id, '2026-01-30T10:00:02.000Z', reply(900))
  const found = await ask(service, `agent_id=${one.agent_id}`)
  assert.equal(
    [found.total_conversations, found.total_messages, found.active_users, found.p95_response_time_ms, Object.keys(found.by_agent)],
    [1, 1, 0, 100, [one.agent_id]],
  )
  assert.is((await ask(service, 'agent_id=agent_none')).total_conversations, 0)
})

test('the p95 is exact and ignores incomplete replies', async (context) => {
  const { service } = context
  const { id } = await conversation(context, '2026-01-30T10:00:00.000Z')
  const times = Array.from({ length: 100 }, (_, index) => ((index * 37) % 100) + 1)
  for (const time of times) await say(service, id, '2026-01-30T10:00:01.000Z', reply(time))
  for (const finish_reason of ['aborted', 'error', 'interrupted'])
    await say(service, id, '2026-01-30T10:00:01.000Z', reply(99_999, { finish_reason }))
  await say(service, id, '2026-01-30T10:00:01.000Z', { usage: { total_tokens: 0 } })
  const found = await ask(service)
  assert.equal([found.p95_response_time_ms, found.average_response_time_ms], [95, 51])
  await say(service, id, '2026-01-30T10:00:01.000Z', reply(96))
  assert.is((await ask(service)).p95_response_time_ms, 96)
})

test('changed and deleted messages update the sums', async (context) => {
  const { service } = context
  const { id } = await conversation(context, '2026-01-30T10:00:00.000Z')
  await say(service, id, '2026-01-30T10:00:00.000Z')
  const message = await say(service, id, '2026-01-30T10:00:01.000Z', { usage: { total_tokens: 0 }, cost: 0 })
  for (let step = 1; step <= 3; step++)
    await run(service, 'UPDATE messages SET details = ? WHERE id = ?', [JSON.stringify(reply(step * 100, { cost: step / 10 })), message])
  const found = await ask(service)
  assert.equal([found.total_messages, found.total_tokens, found.total_cost, found.p95_response_time_ms], [2, 18, 0.3, 300])
  await expectData(service.delete(`/conversations/${id}`), 200)
  const after = await ask(service)
  assert.equal([after.total_conversations, after.total_messages, after.total_cost, after.p95_response_time_ms], [0, 0, 0, null])
  assert.equal(await service.database.all('SELECT * FROM conversation_days'), [])
  assert.equal(await service.database.all('SELECT * FROM reply_times'), [])
})

test('tokens with an unknown price are reported as unpriced', async (context) => {
  const { service } = context
  const { id } = await conversation(context, '2026-01-30T10:00:00.000Z')
  await say(service, id, '2026-01-30T10:00:01.000Z', reply(1, { cost: null }))
  const alone = await ask(service)
  assert.equal([alone.total_cost, alone.unpriced_tokens], [null, 18])
  await say(service, id, '2026-01-30T10:00:01.000Z', reply(1))
  const both = await ask(service)
  assert.equal([both.total_cost, both.unpriced_tokens], [0.016, 18])
})

test('conversations of a deleted agent are still counted, under its id', async (context) => {
  const { service } = context
  const { id, agent_id } = await conversation(context, '2026-01-30T10:00:00.000Z')
  await say(service, id, '2026-01-30T10:00:01.000Z')
  await expectData(service.delete(`/agents/${agent_id}?force=true`), 200)
  const by_agent = { [agent_id]: { conversations: 1, messages: 1, tokens: 0 } }
  for (const query of ['', `agent_id=${agent_id}`]) {
    const found = await ask(service, query)
    assert.equal([found.total_conversations, found.total_messages, found.by_agent], [1, 1, by_agent])
  }
})

test('the conversations of an agent are read from indexes', async ({ service: { database } }) => {
  const all = <T>(sql: string, values?: readonly Value[]) => database.all<T>(`EXPLAIN QUERY PLAN ${sql}`, values)
  const range = { from: '2026-01-01', until: '2026-02-01' }
  const plan = await countStartedConversations({ ...database, all } as DatabaseReader, {
    span: range,
    days: range,
    pieces: [],
    agentId: 'agent_x',
  })
  for (const index of ['conversations_by_agent_id', 'conversations_by_deleted_agent_id'])
    assert.match(JSON.stringify(plan), `USING INDEX ${index} (`)
})

test('invalid dates, reversed ranges and members are rejected', async ({ service }) => {
  for (const query of ['start_date=yesterday', 'start_date=2026-02-01&end_date=2026-01-01', 'agent=x'])
    assert.is((await service.get(`/analytics/conversations?${query}`)).body.code, 'VALIDATION_ERROR')
  assert.is((await service.get('/analytics/conversations', { as: 'member' })).status, 403)
})

test.run()
