import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { aloud } from '../../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'
import { ConversationFixture } from '../conversation-fixture.ts'

const test = suite('replies')
let parlour: ConversationFixture
let provider: ScriptedProvider

test.before(
  aloud(async () => {
    parlour = await ConversationFixture.open()
    provider = await ScriptedProvider.start('openai', streamText('Hello', ' there'))
  }),
)
test.after(aloud(() => Promise.all([parlour.close(), provider.close()])))

const conversation = (id: string) => expectData(parlour.service.get(`/conversations/${id}`))
/** What the provider was sent last. */
const sent = () => provider.received.at(-1)?.body.messages

test('a message is answered, and both are stored', async () => {
  const id = await parlour.startConversation(provider)
  const reply = await parlour.sendAndWait(id, 'Hi')
  assert.equal([reply.role, reply.content, reply.finish_reason], ['assistant', 'Hello there', 'stop'])
  assert.equal(reply.usage, { input_tokens: 12, output_tokens: 5, total_tokens: 17 })
  assert.is(reply.cost, (12 * 0.5 + 5 * 1.5) / 1000)
  assert.ok(reply.latency_ms >= 0)
  const messages = await parlour.listMessages(id)
  assert.equal(
    messages.map(({ role, content }) => [role, content]),
    [
      ['user', 'Hi'],
      ['assistant', 'Hello there'],
    ],
  )
  assert.equal(messages[1], reply)
  assert.equal([reply.citations, reply.tool_calls], [[], []], 'a reply says that it used nothing')
  assert.equal(Object.keys(messages[0] ?? {}), ['id', 'role', 'content', 'timestamp'])
})

test('a reply that was stored without a word on passages and tools is shown with none', async () => {
  const id = await parlour.startConversation(provider)
  await parlour.sendAndWait(id, 'Hi')
  const stripped = "UPDATE messages SET details = json_remove(details, '$.citations', '$.tool_calls') WHERE conversation_id = ?"
  await parlour.service.database.write((transaction) => transaction.run(stripped, [id]))
  const [, reply] = await parlour.listMessages(id)
  assert.equal([reply?.citations, reply?.tool_calls], [[], []])
})

test('a model without a price costs nobody knows what, which is not nothing', async () => {
  const id = await parlour.startConversation(provider, {}, { pricing: null })
  assert.is((await parlour.sendAndWait(id, 'Hi')).cost, null)
})

test('the model reads the system prompt and the whole conversation', async () => {
  const id = await parlour.startConversation(provider)
  await parlour.sendAndWait(id, 'One')
  await parlour.sendAndWait(id, 'Two')
  assert.equal(sent(), [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Hello there' },
    { role: 'user', content: 'Two' },
  ])
})

test('a message may be answered by another model, of which a member knows nothing', async () => {
  const other = await ScriptedProvider.start('openai', streamText('I am another.'))
  const model = await parlour.resources.model({ ...other.model, model_id: 'another' })
  const id = await parlour.startConversation(provider)
  for (const model_id of [model.id, 'another']) {
    const reply = await expectData(parlour.send(id, 'Hi', { model_id }))
    assert.equal([reply.content, reply.model_id], ['I am another.', model.id])
  }
  assert.is((await parlour.sendAndWait(id, 'Hi')).content, 'Hello there', 'the next one is the agent’s own again')
  await expectError(parlour.send(id, 'Hi', { model_id: 'nobody' }), 'VALIDATION_ERROR', { field: 'model_id' })
  const own = await expectData(
    parlour.service.post('/conversations', { agent_id: (await conversation(id)).agent_id }, { as: 'member' }),
    201,
  )
  await expectError(
    parlour.service.post(`/conversations/${own.id}/messages`, { message: 'Hi', model_id: model.id }, { as: 'member' }),
    'FORBIDDEN',
  )
  await other.close()
})

test("temperature and length are the agent's", async () => {
  const id = await parlour.startConversation(provider, { temperature: 0.3, max_tokens: 77 })
  await parlour.sendAndWait(id, 'Hi')
  const { temperature, max_tokens } = provider.received.at(-1)?.body ?? {}
  assert.equal([temperature, max_tokens], [0.3, 77])
})

test('an agent without a prompt says nothing before the conversation', async () => {
  const id = await parlour.startConversation(provider, { system_prompt: '' })
  await parlour.sendAndWait(id, 'Hi')
  assert.equal(sent(), [{ role: 'user', content: 'Hi' }])
})

test('topics are listed with what is said about them', async () => {
  const id = await parlour.startConversation(provider, {
    topics: ['leave', { name: 'travel', description: 'Trains', instructions: 'Never fly.\nBook early.' }],
  })
  await parlour.sendAndWait(id, 'Hi')
  assert.is(sent()[0].content, 'Be brief.\n\nYou cover these topics:\n- leave\n- travel: Trains\n  Never fly.\n  Book early.')
})

test('a prompt template takes the place of the prompt, and a value is never a template', async () => {
  const template = await parlour.resources.template({ template: 'You help {{company}} with {{what}}.' })
  const variables = { company: '{{what}} $& {{system}}', what: ['leave', 1] }
  const id = await parlour.startConversation(provider, { prompt_template_id: template.id, variables })
  await parlour.sendAndWait(id, 'Hi')
  assert.is(sent()[0].content, 'You help {{what}} $& {{system}} with ["leave",1].')
})

test('a template without its values is told before anything is stored', async () => {
  const template = await parlour.resources.template({ template: '{{company}}' })
  const id = await parlour.startConversation(provider, { prompt_template_id: template.id })
  await expectError(parlour.send(id, 'Hi'), 'CONFLICT', { error: /company/, hint: /variables/ })
  assert.equal(await parlour.listMessages(id), [])
})

test('the first message is the title, cut between words, unless there is one', async () => {
  const id = await parlour.startConversation(provider)
  await parlour.sendAndWait(id, '  What is this all about?\nAnd more.')
  assert.is((await conversation(id)).title, 'What is this all about?')
  await parlour.sendAndWait(id, 'Second')
  assert.is((await conversation(id)).title, 'What is this all about?')
  const long = await parlour.startConversation(provider)
  await parlour.sendAndWait(long, 'word '.repeat(40))
  assert.is((await conversation(long)).title, `${'word '.repeat(15).trim()}…`)
  const named = await parlour.createConversation(await parlour.createAgent(provider), { title: 'Mine' })
  await parlour.sendAndWait(named, 'Hi')
  assert.is((await conversation(named)).title, 'Mine')
  await expectData(parlour.service.put(`/conversations/${named}`, { title: null }))
  await parlour.sendAndWait(named, 'Hi again')
  assert.is((await conversation(named)).title, null)
})

test('a completed conversation goes on with the next message', async () => {
  const id = await parlour.startConversation(provider)
  const before = await expectData(parlour.service.post(`/conversations/${id}/complete`))
  await parlour.sendAndWait(id, 'One more thing')
  const after = await conversation(id)
  assert.equal([before.status, after.status], ['completed', 'active'])
  assert.ok(after.updated_at > before.updated_at)
})

test('without its agent a conversation is read but not continued', async () => {
  const agent = await parlour.createAgent(provider)
  const id = await parlour.createConversation(agent)
  await parlour.sendAndWait(id, 'Hi')
  await expectData(parlour.service.delete(`/agents/${agent.id}?force=true`))
  await expectError(parlour.send(id, 'Still there?'), 'CONFLICT', { error: /deleted/ })
  assert.is((await parlour.listMessages(id)).length, 2)
})

test('a message is text that can be kept', async () => {
  const id = await parlour.startConversation(provider)
  for (const message of ['', '  \n', 7, null, 'zero\u0000', '\ud83d half'])
    await expectError(parlour.send(id, message as string), 'VALIDATION_ERROR')
  await expectError(parlour.send('conv_nothing', 'Hi'), 'NOT_FOUND')
  assert.equal(await parlour.listMessages(id), [])
  const odd = 'Ünïcödé 日本語 😀 \u200d\u202e "quotes" \\ and\r\nlines'
  await parlour.sendAndWait(id, odd)
  assert.is((await parlour.listMessages(id))[0]?.content, odd)
})

test('what a model writes is kept whatever it is, in pieces cut anywhere', async () => {
  const id = await parlour.startConversation(provider)
  provider.script = [streamText('a\ud83d', '\ude00b', '\u0000', 'c\ud83d'), streamText('Hello', ' there')]
  const stream = await parlour.stream(id, 'Hi')
  await stream.readAll()
  const [, reply] = await parlour.listMessages(id)
  assert.is(reply?.content, 'a😀b\ufffdc\ufffd')
  assert.is(stream.replyText, reply?.content)
})

test('members talk in their own conversations; viewers do not talk', async () => {
  const theirs = await parlour.startConversation(provider)
  const mine = await expectData(
    parlour.service.post('/conversations', { agent_id: (await conversation(theirs)).agent_id }, { as: 'member' }),
  )
  const say = (id: string, as: string) => parlour.service.post(`/conversations/${id}/messages`, { message: 'Hi' }, { as })
  const reply = await expectData(say(mine.id, 'member'))
  await expectError(say(theirs, 'member'), 'NOT_FOUND')
  await expectError(say(theirs, 'viewer'), 'FORBIDDEN')
  const other = await parlour.sendAndWait(theirs, 'Hi')
  const events = (id: string, message: string) => parlour.service.get(`/conversations/${id}/messages/${message}/events`, { as: 'member' })
  await expectError(events(theirs, other.id), 'NOT_FOUND')
  await expectError(events(mine.id, other.id), 'NOT_FOUND')
  assert.is((await events(mine.id, reply.id)).status, 200)
  const confirm = { tool_call_id: 'call_1', allow: true }
  await expectError(
    parlour.service.post(`/conversations/${theirs}/messages/${other.id}/confirmations`, confirm, { as: 'member' }),
    'NOT_FOUND',
  )
  await expectError(
    parlour.service.post(`/conversations/${mine.id}/messages/${other.id}/confirmations`, confirm, { as: 'member' }),
    'NOT_FOUND',
  )
})

test.run()
