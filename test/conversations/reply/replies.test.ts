import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'
import { ConversationFixture } from '../conversation-fixture.ts'

const test = suite('replies')
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    fixture = await ConversationFixture.open()
    provider = await ScriptedProvider.start('openai', streamText('Hello', ' there'))
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

const conversation = (id: string) => expectData(fixture.service.get(`/conversations/${id}`))
/** Messages of the last request to the provider. */
const sent = () => provider.received.at(-1)?.body.messages

test('a message is answered, and both are stored', async () => {
  const id = await fixture.startConversation(provider)
  const reply = await fixture.sendAndWait(id, 'Hi')
  assert.equal([reply.role, reply.content, reply.finish_reason], ['assistant', 'Hello there', 'stop'])
  assert.equal(reply.usage, { input_tokens: 12, output_tokens: 5, total_tokens: 17 })
  assert.is(reply.cost, (12 * 0.5 + 5 * 1.5) / 1000)
  assert.ok(reply.latency_ms >= 0)
  const messages = await fixture.listMessages(id)
  assert.equal(
    messages.map(({ role, content }) => [role, content]),
    [
      ['user', 'Hi'],
      ['assistant', 'Hello there'],
    ],
  )
  assert.equal(messages[1], reply)
  assert.equal([reply.citations, reply.tool_calls], [[], []], 'empty lists are returned')
  assert.equal(Object.keys(messages[0] ?? {}), ['id', 'role', 'content', 'timestamp'])
})

test('a reply stored without citations and tool calls is returned with empty lists', async () => {
  const id = await fixture.startConversation(provider)
  await fixture.sendAndWait(id, 'Hi')
  const stripped = "UPDATE messages SET details = json_remove(details, '$.citations', '$.tool_calls') WHERE conversation_id = ?"
  await fixture.service.database.write((transaction) => transaction.run(stripped, [id]))
  const [, reply] = await fixture.listMessages(id)
  assert.equal([reply?.citations, reply?.tool_calls], [[], []])
})

test('the cost of a model without a price is null', async () => {
  const id = await fixture.startConversation(provider, {}, { pricing: null })
  assert.is((await fixture.sendAndWait(id, 'Hi')).cost, null)
})

test('the request contains the system prompt and the conversation', async () => {
  const id = await fixture.startConversation(provider)
  await fixture.sendAndWait(id, 'One')
  await fixture.sendAndWait(id, 'Two')
  assert.equal(sent(), [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Hello there' },
    { role: 'user', content: 'Two' },
  ])
})

test('a message can be answered by another model, except for members', async () => {
  const other = await ScriptedProvider.start('openai', streamText('I am another.'))
  const model = await fixture.resources.model({ ...other.model, model_id: 'another' })
  const id = await fixture.startConversation(provider)
  for (const model_id of [model.id, 'another']) {
    const reply = await expectData(fixture.send(id, 'Hi', { model_id }))
    assert.equal([reply.content, reply.model_id], ['I am another.', model.id])
  }
  assert.is((await fixture.sendAndWait(id, 'Hi')).content, 'Hello there', 'the next message uses the model of the agent')
  await expectError(fixture.send(id, 'Hi', { model_id: 'nobody' }), 'VALIDATION_ERROR', { field: 'model_id' })
  const own = await expectData(
    fixture.service.post('/conversations', { agent_id: (await conversation(id)).agent_id }, { as: 'member' }),
    201,
  )
  await expectError(
    fixture.service.post(`/conversations/${own.id}/messages`, { message: 'Hi', model_id: model.id }, { as: 'member' }),
    'FORBIDDEN',
  )
  await other.close()
})

test("the request uses the agent's temperature and max_tokens", async () => {
  const id = await fixture.startConversation(provider, { temperature: 0.3, max_tokens: 77 })
  await fixture.sendAndWait(id, 'Hi')
  const { temperature, max_tokens } = provider.received.at(-1)?.body ?? {}
  assert.equal([temperature, max_tokens], [0.3, 77])
})

test('an agent without a prompt sends no system message', async () => {
  const id = await fixture.startConversation(provider, { system_prompt: '' })
  await fixture.sendAndWait(id, 'Hi')
  assert.equal(sent(), [{ role: 'user', content: 'Hi' }])
})

test('the system prompt lists topics with their descriptions and instructions', async () => {
  const id = await fixture.startConversation(provider, {
    topics: ['leave', { name: 'travel', description: 'Trains', instructions: 'Never fly.\nBook early.' }],
  })
  await fixture.sendAndWait(id, 'Hi')
  assert.is(sent()[0].content, 'Be brief.\n\nYou cover these topics:\n- leave\n- travel: Trains\n  Never fly.\n  Book early.')
})

test('a prompt template replaces the prompt, and placeholders in values are not replaced', async () => {
  const template = await fixture.resources.template({ template: 'You help {{company}} with {{what}}.' })
  const variables = { company: '{{what}} $& {{system}}', what: ['leave', 1] }
  const id = await fixture.startConversation(provider, { prompt_template_id: template.id, variables })
  await fixture.sendAndWait(id, 'Hi')
  assert.is(sent()[0].content, 'You help {{what}} $& {{system}} with ["leave",1].')
})

test('missing template values of an agent of an older version reject the message before anything is stored', async () => {
  const template = await fixture.resources.template({ template: '{{company}}' })
  const id = await fixture.startConversation(provider, { prompt_template_id: template.id, variables: { company: 'Acme' } })
  await fixture.service.database.write((transaction) =>
    transaction.run("UPDATE agents SET variables = '{}', version = version + 1 WHERE prompt_template_id = ?", [template.id]),
  )
  await expectError(fixture.send(id, 'Hi'), 'CONFLICT', { error: /company/, hint: /variables/ })
  assert.equal(await fixture.listMessages(id), [])
})

test('the first message becomes the title, truncated between words, unless there is one', async () => {
  const id = await fixture.startConversation(provider)
  await fixture.sendAndWait(id, '  What is this all about?\nAnd more.')
  assert.is((await conversation(id)).title, 'What is this all about?')
  await fixture.sendAndWait(id, 'Second')
  assert.is((await conversation(id)).title, 'What is this all about?')
  const long = await fixture.startConversation(provider)
  await fixture.sendAndWait(long, 'word '.repeat(40))
  assert.is((await conversation(long)).title, `${'word '.repeat(15).trim()}…`)
  const named = await fixture.createConversation(await fixture.createAgent(provider), { title: 'Mine' })
  await fixture.sendAndWait(named, 'Hi')
  assert.is((await conversation(named)).title, 'Mine')
  await expectData(fixture.service.put(`/conversations/${named}`, { title: null }))
  await fixture.sendAndWait(named, 'Hi again')
  assert.is((await conversation(named)).title, null)
})

test('a completed conversation is reactivated by the next message', async () => {
  const id = await fixture.startConversation(provider)
  const before = await expectData(fixture.service.post(`/conversations/${id}/complete`))
  await fixture.sendAndWait(id, 'One more thing')
  const after = await conversation(id)
  assert.equal([before.status, after.status], ['completed', 'active'])
  assert.ok(after.updated_at > before.updated_at)
})

test('a conversation without its agent can be read but not continued', async () => {
  const agent = await fixture.createAgent(provider)
  const id = await fixture.createConversation(agent)
  await fixture.sendAndWait(id, 'Hi')
  await expectData(fixture.service.delete(`/agents/${agent.id}?force=true`))
  await expectError(fixture.send(id, 'Still there?'), 'CONFLICT', { error: /deleted/ })
  assert.is((await fixture.listMessages(id)).length, 2)
})

test('invalid message text is rejected', async () => {
  const id = await fixture.startConversation(provider)
  for (const message of ['', '  \n', 7, null, 'zero\u0000', '\ud83d half'])
    await expectError(fixture.send(id, message as string), 'VALIDATION_ERROR')
  await expectError(fixture.send('conv_nothing', 'Hi'), 'NOT_FOUND')
  assert.equal(await fixture.listMessages(id), [])
  const odd = 'Ünïcödé 日本語 😀 \u200d\u202e "quotes" \\ and\r\nlines'
  await fixture.sendAndWait(id, odd)
  assert.is((await fixture.listMessages(id))[0]?.content, odd)
})

test('model text is stored unchanged, however it is split', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [streamText('a\ud83d', '\ude00b', '\u0000', 'c\ud83d'), streamText('Hello', ' there')]
  const stream = await fixture.stream(id, 'Hi')
  await stream.readAll()
  const [, reply] = await fixture.listMessages(id)
  assert.is(reply?.content, 'a😀b\ufffdc\ufffd')
  assert.is(stream.replyText, reply?.content)
})

test('members send messages only in their own conversations, viewers in none', async () => {
  const theirs = await fixture.startConversation(provider)
  const mine = await expectData(
    fixture.service.post('/conversations', { agent_id: (await conversation(theirs)).agent_id }, { as: 'member' }),
  )
  const say = (id: string, as: string) => fixture.service.post(`/conversations/${id}/messages`, { message: 'Hi' }, { as })
  const reply = await expectData(say(mine.id, 'member'))
  await expectError(say(theirs, 'member'), 'NOT_FOUND')
  await expectError(say(theirs, 'viewer'), 'FORBIDDEN')
  const other = await fixture.sendAndWait(theirs, 'Hi')
  const events = (id: string, message: string) => fixture.service.get(`/conversations/${id}/messages/${message}/events`, { as: 'member' })
  await expectError(events(theirs, other.id), 'NOT_FOUND')
  await expectError(events(mine.id, other.id), 'NOT_FOUND')
  assert.is((await events(mine.id, reply.id)).status, 200)
  const confirm = { tool_call_id: 'call_1', allow: true }
  await expectError(
    fixture.service.post(`/conversations/${theirs}/messages/${other.id}/confirmations`, confirm, { as: 'member' }),
    'NOT_FOUND',
  )
  await expectError(
    fixture.service.post(`/conversations/${mine.id}/messages/${other.id}/confirmations`, confirm, { as: 'member' }),
    'NOT_FOUND',
  )
})

test.run()
