import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { aloud } from '../../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'
import { waitFor } from '../../knowledge/knowledge-fixture.ts'
import { ConversationFixture } from '../conversation-fixture.ts'

const test = suite('messages that are longer than a model reads')
let parlour: ConversationFixture
let provider: ScriptedProvider

test.before(
  aloud(async () => {
    parlour = await ConversationFixture.open()
    provider = await ScriptedProvider.start('openai', streamText('Read.'))
  }),
)
test.after(aloud(() => Promise.all([parlour.close(), provider.close()])))

const letters = (tokens: number) => 'word'.repeat(tokens)
const talk = (context_window: number | null, fields: object = {}) =>
  parlour.startConversation(provider, { system_prompt: '', ...fields }, { context_window })

test('one is refused before the model is called, with the figures and what to do; nothing of it is kept', async () => {
  const id = await talk(1_000)
  const before = provider.received.length
  for (const stream of [false, true])
    await expectError(parlour.send(id, letters(1_001), { stream }), 'VALIDATION_ERROR', {
      field: 'message',
      error: /^message: has about 1,001 tokens, and the model "scripted.*" reads 1,000\.$/,
      hint: /add it as a document.*context_window/,
    })
  assert.is(provider.received.length, before)
  assert.equal(await parlour.listMessages(id), [])
  assert.equal(await parlour.service.database.all('SELECT id FROM usage_calls'), [])
  assert.is((await parlour.sendAndWait(id, 'Shorter.')).content, 'Read.')
})

test('one that just fits is sent whole', async () => {
  const id = await talk(1_000)
  await parlour.sendAndWait(id, letters(1_000))
  assert.match(JSON.stringify(provider.received.at(-1)?.body), letters(1_000))
})

test('the instructions of the agent count, and are named', async () => {
  const id = await talk(1_000, { system_prompt: letters(600) })
  await expectError(parlour.send(id, letters(500)), 'VALIDATION_ERROR', {
    error: /has about 500 tokens.*reads 1,000, of which the agent's instructions take 600\.$/,
  })
  await parlour.sendAndWait(id, letters(400))
})

test('where nobody knows how much a model reads, it is asked; another one may be, too', async () => {
  await expectData(parlour.send(await talk(null), letters(20_001)))
  const id = await talk(1_000)
  await expectError(parlour.send(id, letters(8_200)), 'VALIDATION_ERROR', { error: /reads 1,000/ })
  const { id: model_id } = await parlour.resources.model({ ...provider.model, name: 'wide', context_window: 20_000 })
  await expectData(parlour.send(id, letters(8_200), { model_id }))
})

test('a test case of an evaluation fails with it, and the run goes on', async () => {
  const agent = await parlour.createAgent(provider, { system_prompt: '' }, { context_window: 1_000 })
  const test_cases = [{ input: letters(1_001) }, { input: 'Hello?', expected_output: 'Read' }]
  const { id } = await parlour.resources.evaluation({ type: 'agent', target_id: agent.id, test_cases })
  await expectData(parlour.service.post(`/evaluations/${id}/run`))
  const { results } = await waitFor(async () => {
    const data = await expectData(parlour.service.get(`/evaluations/${id}/results`))
    return data.status === 'completed' ? data : undefined
  })
  assert.match(results[0].error, 'has about 1,001 tokens')
  assert.equal([results[1].error, results[1].passed], [null, true])
})

test.run()
