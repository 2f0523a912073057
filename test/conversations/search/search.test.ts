import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { type ScriptedProvider, streamInTwoParts, streamText } from '../../harness/scripted-provider.ts'
import { type Json, MEMBER_USER } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { ConversationFixture } from '../conversation-fixture.ts'

interface Context {
  fixture: ConversationFixture
  provider: ScriptedProvider
  agent: Json
}

const test = suite<Context>('search conversations')

test.before.each(async (context) => {
  ;[context.fixture, context.provider] = await ConversationFixture.openWithProvider()
  context.agent = await context.fixture.createAgent(context.provider)
})
test.after.each(async ({ fixture, provider }) => {
  await fixture.close()
  await provider.close()
})

const search = async ({ fixture }: Context, q: string, more = ''): Promise<Json[]> =>
  expectData(fixture.service.get(`/conversations?q=${encodeURIComponent(q)}${more}`))
const listIds = async (context: Context, q: string, more = '') => (await search(context, q, more)).map(({ id }) => id)
const getHighlights = ({ match }: Json): string[] =>
  match.highlights.map(({ start, end }: { start: number; end: number }) => match.snippet.slice(start, end))

async function talk(context: Context, message: string, reply = 'I see.', fields: Json = {}): Promise<string> {
  const { fixture, provider, agent } = context
  provider.script = [streamText(reply)]
  const id = await fixture.createConversation(agent, fields)
  await fixture.sendAndWait(id, message)
  return id
}

test('questions and replies are found by their words, without regard to case, accents and endings', async (context) => {
  const leave = await talk(context, 'How many VACATIONS do I get?', 'Thirty days, as in the Café Größe policy.')
  const other = await talk(context, 'Who is the boss?')
  assert.equal(await listIds(context, 'vacation'), [leave])
  assert.equal(await listIds(context, 'cafe GRÖßE'), [leave])
  assert.equal(await listIds(context, 'boss vacation'), [], 'one message contains all words')
  assert.equal(await listIds(context, '"is the boss"'), [other])
  assert.equal(await listIds(context, '"the is boss"'), [])
  assert.equal(await listIds(context, 'ho'), [], 'short words are whole words')
  assert.equal(await listIds(context, 'I'), [other, leave], 'the newest first')
  const [found] = await search(context, 'days cafe')
  assert.is(found.match.snippet, 'Thirty days, as in the Café Größe policy.')
  assert.is(found.match.role, 'assistant')
  assert.equal(getHighlights(found), ['days', 'Café'])
  assert.is(found.match_count, 1)
})

test('text without spaces is found by any part of it', async (context) => {
  const chinese = await talk(context, '我有多少天年假？iPhone手机')
  const thai = await talk(context, 'ฉันมีวันลากี่วัน')
  const korean = await talk(context, '휴가는 며칠인가요?')
  const [found] = await search(context, '年假')
  assert.is(found.id, chinese)
  assert.equal(getHighlights(found), ['年假'])
  assert.equal(await listIds(context, '假年'), [])
  assert.equal(getHighlights((await search(context, 'iphone'))[0]), ['iPhone'])
  assert.equal(await listIds(context, 'วันลา'), [thai])
  assert.equal(await listIds(context, '휴가'), [korean])
})

test('results are filtered by agent, date and the usual fields, and paged', async (context) => {
  const { fixture, provider } = context
  const first = await talk(context, 'budget one')
  context.agent = await fixture.createAgent(provider)
  const second = await talk(context, 'budget two', 'budget', { user_id: 'bob' })
  assert.equal(await listIds(context, 'budget', `&agent_id=${context.agent.id}`), [second])
  assert.equal(await listIds(context, 'budget', '&user_id=bob'), [second])
  const response = await fixture.service.get('/conversations?q=budget&limit=1&page=2')
  assert.equal([response.data[0].id, response.body.pagination.total], [first, 2])
  const today = new Date().toISOString().slice(0, 10)
  assert.equal(await listIds(context, 'budget', `&start_date=${today}&order=asc`), [first, second])
  assert.equal(await listIds(context, 'budget', '&end_date=2020-01-01'), [])
  assert.is((await search(context, 'budget', `&end_date=${today}`))[0].match_count, 2)
})

test('a word in thousands of conversations is found in all, in the order of the list', async (context) => {
  const { service } = context.fixture
  const generate = 'WITH RECURSIVE generated (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM generated WHERE n < 3000)'
  const at = "strftime('%Y-%m-%dT%H:%M:%fZ', 1735689600 + n, 'unixepoch')"
  await service.database.write(async (transaction) => {
    await transaction.run(`${generate} INSERT INTO conversations (id, agent_id, user_id, status, created_at, updated_at)
      SELECT 'conv_' || n, NULL, 'user_' || (n % 3), 'active', ${at}, ${at} FROM generated`)
    await transaction.run(`${generate} INSERT INTO searchable_conversations SELECT n, 'conv_' || n FROM generated`)
    await transaction.run(`${generate} INSERT INTO messages (id, conversation_id, role, content, details, created_at)
      SELECT 'msg_' || n, 'conv_' || n, 'user', 'everywhere ' || n, '{}', ${at} FROM generated`)
    await transaction.run(`${generate} INSERT INTO searchable_messages SELECT n << 20, 'msg_' || n, ${at} FROM generated`)
    await transaction.run(`${generate} INSERT INTO message_words (rowid, content) SELECT n << 20, 'everywhere ' || n FROM generated`)
  })
  const find = async (more: string) => {
    const { data, body } = await service.get(`/conversations?q=everywhere${more}`)
    return [data.map(({ match }: Json) => match.snippet), body.pagination.total]
  }
  assert.equal(await find('&limit=2'), [['everywhere 3000', 'everywhere 2999'], 3000])
  assert.equal(await find('&limit=2&page=1500'), [['everywhere 2', 'everywhere 1'], 3000])
  assert.equal(await find('&limit=2&user_id=user_1&order=asc'), [['everywhere 1', 'everywhere 4'], 1000])
  assert.equal(await find('&limit=2&start_date=2025-01-01&end_date=2025-01-01'), [['everywhere 3000', 'everywhere 2999'], 3000])
})

test('members search only their own conversations', async (context) => {
  const own = await talk(context, 'salary of ada', 'ok', { user_id: MEMBER_USER })
  await talk(context, 'salary of bob', 'ok', { user_id: 'bob' })
  const response = await context.fixture.service.get('/conversations?q=salary', { as: 'member' })
  assert.equal(
    response.data.map(({ id }: Json) => id),
    [own],
  )
  assert.is(response.body.pagination.total, 1)
  assert.equal((await context.fixture.service.get('/conversations?q=bob', { as: 'member' })).body.pagination.total, 0)
})

test('a deleted conversation leaves the index', async (context) => {
  const { service } = context.fixture
  const id = await talk(context, 'forget me')
  await service.delete(`/conversations/${id}`)
  assert.equal(await search(context, 'forget'), [])
  for (const table of ['searchable_messages', 'searchable_conversations', 'message_words'])
    assert.equal(await service.database.get(`SELECT count(*) AS total FROM ${table}`), { total: 0 }, table)
})

test('a reply is found when it ends, with its final text', async (context) => {
  const { fixture, provider, agent } = context
  const { step, resume } = streamInTwoParts('penguin ', 'walrus')
  provider.script = [step]
  const id = await fixture.createConversation(agent)
  const stream = await fixture.stream(id, 'Which animals?')
  await stream.readUntil('message_delta')
  assert.equal(await listIds(context, 'penguin'), [])
  resume()
  await stream.readAll()
  assert.equal(await listIds(context, 'penguin walrus'), [id])
})

test('messages from before the index are indexed in the background after a start, also after an interruption', async (context) => {
  const ids = [await talk(context, 'ancient pyramids'), await talk(context, 'ancient temples')]
  const { database } = context.fixture.service
  await database.write(async (transaction) => {
    for (const table of ['searchable_messages', 'searchable_conversations', 'message_words']) await transaction.run(`DELETE FROM ${table}`)
    await transaction.run("INSERT INTO messages_to_index SELECT '', max(id) FROM messages")
  })
  assert.equal(await search(context, 'ancient'), [])
  context.fixture = await context.fixture.restart()
  await waitFor(async () => !(await context.fixture.service.database.get('SELECT 1 FROM messages_to_index')))
  assert.equal((await listIds(context, 'ancient')).sort(), ids.sort())
})

test('a query without a letter, dates without a query and FTS5 syntax are handled', async (context) => {
  const { service } = context.fixture
  const id = await talk(context, 'say "hello" NOT (world) AND near')
  await expectError(service.get('/conversations?q=%22-%22%20!'), 'VALIDATION_ERROR')
  await expectError(service.get('/conversations?q='), 'VALIDATION_ERROR')
  await expectError(service.get('/conversations?start_date=2026-01-01'), 'VALIDATION_ERROR')
  await expectError(service.get('/conversations?q=x&start_date=2026-02-01&end_date=2026-01-01'), 'VALIDATION_ERROR')
  for (const q of ['hello"', 'NOT (world)', 'AND', 'say(hello', 'content:hello', '*', '^say', 'hello -world', "'"])
    if (/\w/.test(q)) assert.equal((await listIds(context, q)).length, q.startsWith('content') ? 0 : 1, q)
  assert.is((await search(context, 'hello'))[0].id, id)
})

test.run()
