import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { insertMessage } from '../../daemon/conversations/store.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, MEMBER_USER, TestServer } from '../harness/test-server.ts'

const test = suite('conversations')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const start = (fields: Record<string, unknown> = {}, as = 'admin') =>
  resources.agent().then(({ id }: Json) => server.post('/conversations', { agent_id: id, ...fields }, { as }))

/** Stores messages of both roles. */
async function storeMessages(conversationId: string, count: number): Promise<Json[]> {
  const messages = Array.from({ length: count }, (_, index) => ({
    id: `msg_${conversationId}-${String(index).padStart(3, '0')}`,
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `message ${index}`,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
    ...(index % 2
      ? {
          usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
          cost: null,
          finish_reason: 'stop' as const,
          tool_calls: [],
          citations: [{ index: 1, source: 'a.md', page: 1, document_id: 'doc_1', content: 'x', score: 0.5, cited: true, stale: true }],
        }
      : {}),
  }))
  await server.database.write(async (transaction) => {
    for (const message of messages) await insertMessage(transaction, conversationId, message)
  })
  return messages
}

test('a conversation requires only an agent and starts active and empty', async () => {
  const agent = await resources.agent()
  const {
    id: _,
    created_at: __,
    updated_at: ___,
    ...conversation
  } = await expectData(server.post('/conversations', { agent_id: agent.id }), 201)
  const empty = { messages: [], message_count: 0, summary: null }
  assert.equal(conversation, { agent_id: agent.id, user_id: 'local', title: null, status: 'active', ...empty })
})

test('a conversation contains its newest 100 messages, and the others are read in pages', async () => {
  const { id } = await expectData(start())
  const stored = await storeMessages(id, 250)
  const { messages, message_count } = await expectData(server.get(`/conversations/${id}`))
  assert.is(message_count, 250)
  assert.equal(messages, stored.slice(-100))
  const renamed = await expectData(server.patch(`/conversations/${id}`, { title: 'Long' }))
  assert.equal([renamed.messages.length, renamed.message_count], [100, 250])
  const read: Json[] = []
  for (const page of [1, 2, 3])
    read.push(...(await expectData(server.get(`/conversations/${id}/messages?order=asc&limit=100&page=${page}`))))
  assert.equal(read, stored)
  await expectData(server.put(`/conversations/${id}`, { ...renamed, title: 'Longer' }))
})

test('the user of a conversation defaults to the user of the token', async () => {
  assert.is((await expectData(start({ user_id: 'Zoë' }))).user_id, 'Zoë')
  assert.is((await expectData(start({}, 'member'))).user_id, MEMBER_USER)
  const { token } = await resources.token({ role: 'editor', user_id: 'eve' })
  assert.is((await expectData(start({}, token))).user_id, 'eve')
  assert.is((await expectData(start({ user_id: 'other' }, token))).user_id, 'other')
})

test('the agent of a conversation must exist', async () => {
  await expectError(server.post('/conversations', { agent_id: 'agent_nothing' }), 'VALIDATION_ERROR', { field: 'agent_id' })
  await expectError(server.post('/conversations', { user_id: 'x' }), 'VALIDATION_ERROR', { field: 'agent_id' })
  await expectError(server.post('/conversations', { agent_id: null }), 'VALIDATION_ERROR', { field: 'agent_id' })
  for (const fields of [
    { user_id: '' },
    { user_id: 'x'.repeat(201) },
    { title: '' },
    { title: 'x'.repeat(501) },
    { status: 'completed' },
    { messages: [] },
  ])
    await expectError(start(fields), 'VALIDATION_ERROR')
})

test('conversations of a deleted agent are found by its id', async () => {
  const { id, agent_id } = await expectData(start({ user_id: MEMBER_USER }))
  await expectData(start())
  await expectData(server.delete(`/agents/${agent_id}?force=true`))
  assert.is((await expectData(server.get(`/conversations/${id}`))).agent_id, null)
  for (const as of ['admin', 'member'] as const) {
    const { body } = await server.get(`/conversations?agent_id=${agent_id}`, { as })
    assert.equal([body.pagination.total, body.data.map((found: Json) => found.id)], [1, [id]])
  }
  await expectData(server.put(`/conversations/${id}`, { title: 'Still here' }))
  assert.is((await server.get(`/conversations?agent_id=${agent_id}&title=Still%20here`)).body.pagination.total, 1)
  assert.is((await server.get('/conversations?agent_id=agent_nothing')).body.pagination.total, 0)
})

test('only the title of a conversation can be changed', async () => {
  const conversation = await expectData(start({ title: 'Leave' }))
  const path = `/conversations/${conversation.id}`
  assert.is((await expectData(server.put(path, { title: 'Holidays' }))).title, 'Holidays')
  assert.is((await expectData(server.patch(path, { title: null }))).title, null)
  for (const body of [{ agent_id: 'agent_other' }, { user_id: 'x' }, { status: 'completed' }, { title: '' }])
    await expectError(server.put(path, body), 'VALIDATION_ERROR')
})

test('a conversation can be completed repeatedly and stays completed', async () => {
  const { id } = await expectData(start())
  for (const _ of [1, 2]) assert.is((await expectData(server.post(`/conversations/${id}/complete`), 200)).status, 'completed')
  assert.is((await expectData(server.get(`/conversations/${id}`))).status, 'completed')
  assert.is((await server.get(`/conversations?status=completed&id=${id}`)).body.pagination.total, 1)
  await expectError(server.post('/conversations/nobody/complete'), 'NOT_FOUND')
})

test('a conversation contains its messages, oldest first', async () => {
  const { id } = await expectData(start())
  const messages = await storeMessages(id, 7)
  assert.equal((await expectData(server.get(`/conversations/${id}`))).messages, messages)
  const [listed] = await expectData(server.get(`/conversations?id=${id}`))
  assert.not.ok('messages' in listed)
})

test('messages can be listed with paging, sorting and filters', async () => {
  const { id } = await expectData(start())
  const messages = await storeMessages(id, 45)
  const page = async (query = '') => (await server.get(`/conversations/${id}/messages${query}`)).body
  const newest = [...messages].reverse()
  assert.equal((await page()).data, newest.slice(0, 20))
  assert.equal((await page()).pagination, { page: 1, limit: 20, total: 45, pages: 3 })
  assert.equal((await page('?order=asc&limit=10&page=2')).data, messages.slice(10, 20))
  assert.equal((await page('?page=9')).data, [])
  assert.is((await page('?role=assistant')).pagination.total, 22)
  assert.equal((await page(`?created_at=${messages[3].timestamp}`)).data, [messages[3]])
  assert.equal((await page('?sort=role&order=asc&limit=1')).data[0].role, 'assistant')
  await expectError(server.get(`/conversations/${id}/messages?content=x`), 'VALIDATION_ERROR', { field: 'content' })
  await expectError(server.get(`/conversations/${id}/messages?sort=content`), 'VALIDATION_ERROR', { field: 'sort' })
  await expectError(server.get('/conversations/nobody/messages'), 'NOT_FOUND')
})

test('deleting a conversation deletes its messages', async () => {
  const { id } = await expectData(start())
  await storeMessages(id, 3)
  await expectData(server.delete(`/conversations/${id}`))
  assert.equal(await server.database.all('SELECT id FROM messages WHERE conversation_id = ?', [id]), [])
})

test('a member sees its own conversations; those of others do not exist for it', async () => {
  const [mine, theirs] = [await expectData(start({}, 'member')), await expectData(start({ user_id: 'bob' }))]
  await storeMessages(theirs.id, 1)
  const member = { as: 'member' }
  assert.equal(await expectData(server.get(`/conversations/${mine.id}`, member)), mine)
  for (const path of ['', '/messages']) await expectError(server.get(`/conversations/${theirs.id}${path}`, member), 'NOT_FOUND')
  await expectError(server.put(`/conversations/${theirs.id}`, { title: 'x' }, member), 'NOT_FOUND')
  await expectError(server.post(`/conversations/${theirs.id}/complete`, undefined, member), 'NOT_FOUND')
  await expectError(server.delete(`/conversations/${theirs.id}?force=true`, member), 'NOT_FOUND')
  const listed = await expectData(server.get('/conversations?limit=100', member))
  assert.ok(listed.length > 0)
  assert.equal([...new Set(listed.map(({ user_id }: Json) => user_id))], [MEMBER_USER])
  assert.equal(await expectData(server.get('/conversations?user_id=bob', member)), [])
  assert.equal(await expectData(server.get(`/conversations?id=${theirs.id}`, member)), [])
  assert.equal(await expectData(server.get(`/conversations/${theirs.id}`)), {
    ...theirs,
    messages: (await expectData(server.get(`/conversations/${theirs.id}`))).messages,
    message_count: 1,
  })
})

test('mine=true lists only conversations of the user of the token', async () => {
  const { token } = await resources.token({ role: 'editor', user_id: 'eve' })
  await expectData(start({ user_id: 'bob' }, token))
  await expectData(start({}, token))
  for (const [as, user] of [
    ['admin', 'local'],
    [token, 'eve'],
    ['member', MEMBER_USER],
  ] as const) {
    const users = async (query: string) =>
      (await expectData(server.get(`/conversations?limit=100&${query}`, { as }))).map(({ user_id }: Json) => user_id)
    assert.equal([...new Set(await users('mine=true'))], [user])
    assert.equal(await users('mine=true'), await users(`mine=true&user_id=${user}`))
    assert.equal(await users('mine=true&user_id=bob'), [])
    assert.is((await users('mine=false')).length, (await users('')).length)
  }
  await expectError(server.get('/conversations?mine=perhaps'), 'VALIDATION_ERROR', { field: 'mine' })
})

test('a member can change, complete and delete only its own conversations', async () => {
  const member = { as: 'member' }
  const { id } = await expectData(start({ user_id: MEMBER_USER }, 'member'))
  assert.is((await expectData(server.put(`/conversations/${id}`, { title: 'mine' }, member))).title, 'mine')
  assert.is((await expectData(server.post(`/conversations/${id}/complete`, undefined, member))).status, 'completed')
  assert.is((await server.delete(`/conversations/${id}`, member)).status, 200)
  await expectError(start({ user_id: 'bob' }, 'member'), 'FORBIDDEN', { hint: /Omit user_id/ })
})

test('a viewer can read all conversations and create none', async () => {
  const { id } = await expectData(start({ user_id: 'bob' }))
  await expectData(server.get(`/conversations/${id}`, { as: 'viewer' }))
  await expectError(start({}, 'viewer'), 'FORBIDDEN')
  await expectError(server.delete(`/conversations/${id}`, { as: 'viewer' }), 'FORBIDDEN')
})

test.run()
