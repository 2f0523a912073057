import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { ConversationFixture } from '../conversation-fixture.ts'

const test = suite('messages longer than the context window')
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    fixture = await ConversationFixture.open()
    provider = await ScriptedProvider.start('openai', streamText('Read.'))
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

const letters = (tokens: number) => 'word'.repeat(tokens)
const talk = (context_window: number | null, fields: object = {}) =>
  fixture.startConversation(provider, { system_prompt: '', ...fields }, { context_window })

test('a message that is too long is rejected before the model is called, and not stored', async () => {
  const id = await talk(1_000)
  const before = provider.received.length
  for (const stream of [false, true])
    await expectError(fixture.send(id, letters(1_001), { stream }), 'VALIDATION_ERROR', {
      field: 'message',
      error: /^message: has about 1,001 tokens, and the model "scripted.*" reads 1,000\.$/,
      hint: /add it as a document.*context_window/,
    })
  assert.is(provider.received.length, before)
  assert.equal(await fixture.listMessages(id), [])
  assert.equal(await fixture.service.database.all('SELECT id FROM usage_calls'), [])
  assert.is((await fixture.sendAndWait(id, 'Shorter.')).content, 'Read.')
})

test('a message that just fits is sent complete', async () => {
  const id = await talk(1_000)
  await fixture.sendAndWait(id, letters(1_000))
  assert.match(JSON.stringify(provider.received.at(-1)?.body), letters(1_000))
})

test('the instructions of the agent count towards the limit', async () => {
  const id = await talk(1_000, { system_prompt: letters(600) })
  await expectError(fixture.send(id, letters(500)), 'VALIDATION_ERROR', {
    error: /has about 500 tokens.*reads 1,000, of which the agent's instructions take 600\.$/,
  })
  await fixture.sendAndWait(id, letters(400))
})

test('a model with an unknown context window is called, and another model can be chosen', async () => {
  await expectData(fixture.send(await talk(null), letters(20_001)))
  const id = await talk(1_000)
  await expectError(fixture.send(id, letters(8_200)), 'VALIDATION_ERROR', { error: /reads 1,000/ })
  const { id: model_id } = await fixture.resources.model({ ...provider.model, name: 'wide', context_window: 20_000 })
  await expectData(fixture.send(id, letters(8_200), { model_id }))
})

test('a test case that is too long fails without stopping its run', async () => {
  const agent = await fixture.createAgent(provider, { system_prompt: '' }, { context_window: 1_000 })
  const test_cases = [{ input: letters(1_001) }, { input: 'Hello?', expected_output: 'Read' }]
  const { id } = await fixture.resources.evaluation({ type: 'agent', target_id: agent.id, test_cases })
  await expectData(fixture.service.post(`/evaluations/${id}/run`))
  const { results } = await waitFor(async () => {
    const data = await expectData(fixture.service.get(`/evaluations/${id}/results`))
    return data.status === 'completed' ? data : undefined
  })
  assert.match(results[0].error, 'has about 1,001 tokens')
  assert.equal([results[1].error, results[1].passed], [null, true])
})

test.run()
