import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EmbeddingService } from '../../../daemon/embedding/service.ts'
import { getModelsDirectory } from '../../../daemon/inference/paths.ts'
import type { ChatInput, ChatModel } from '../../../daemon/models/chat-model.ts'
import { EmbeddedChatModel } from '../../../daemon/models/quoted-answers/embedded-chat-model.ts'
import { createTestLogger } from '../../embedding/test-logger.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { collectParts, createRequest, joinText } from '../providers/provider-fixture.ts'
import { createScriptedReader } from './scripted-reader.ts'

const test = suite('embedded chat model')
let embedding: EmbeddingService
let model: ChatModel

test.before(
  reportFailure(() => {
    embedding = new EmbeddingService({
      modelsDirectory: getModelsDirectory(),
      resolveRemoteModel: async () => undefined,
      workers: 1,
      logger: createTestLogger(),
    })
    model = new EmbeddedChatModel('model_1', 'Embedded', embedding.models)
  }),
)
test.after(reportFailure(() => embedding.close()))

const passages = [
  { content: 'The office is open from nine to five.', source: 'office.md', page: 1 },
  { content: 'Employees have thirty days of paid leave a year. Leave is asked for in writing.', source: 'leave.md', page: 1 },
]
const ask = async (content: string, options: Partial<ChatInput> = {}) => collectParts(model, { ...createRequest(content), ...options })
const read = async (question: string, content: string) =>
  joinText(await ask(question, { passages: [{ content, source: 'a.md', page: 1 }] }))

test('the embedded model streams the answer with its quote, and reports usage at no cost', async () => {
  const parts = await ask('How many days of paid leave do employees have?', { passages })
  const text = joinText(parts)
  assert.match(text, /^\*\*thirty( days)?.*\*\*\n\n“Employees have thirty days of paid leave a year\.” \[2\]$/)
  assert.ok(parts.length > 2)
  const end = parts.at(-1)
  assert.ok(end?.type === 'end' && end.finishReason === 'stop' && (end.usage?.inputTokens ?? 0) > 20 && (end.usage?.outputTokens ?? 0) > 10)
  assert.equal(model.price, { input: 0, output: 0 })
})

test('a record of a named row is no answer to a question for what no document says', async () => {
  const reader = createScriptedReader(() => ({ answer: 'Oak Inn', certainty: 5 }))
  const problem = { document: 'bills.csv', text: 'The table does not answer it.', missing: ['phone'] }
  const askAbout = async (content: string) =>
    joinText(
      await collectParts(new EmbeddedChatModel('model_2', 'Scripted', reader), {
        ...createRequest('What is the phone number of the Oak Inn?'),
        passages: [{ content, source: 'visits.csv', page: 1 }],
        compute: async () => ({ computations: [], problem }),
      }),
    )
  assert.is(await askAbout('Client: Oak Inn\nTown: Ashford'), 'The table does not answer it.')
  assert.match(await askAbout('Client: Oak Inn\nPhone: 555 0100'), /555 0100/)
})

test('without documents, the reply names the command that adds a model, in one part', async () => {
  const parts = await ask('How many days?')
  assert.ok(parts.some((part) => part.type === 'text' && part.text.includes('cadre models discover --add')))
})

test('the model reads documentation: options, defaults and commands', async () => {
  const content = [
    '### `bodyLimit`',
    '+ Default: `1048576` (1MiB)',
    'Defines the maximum payload, in bytes, the server is allowed to accept.',
  ].join('\n\n')
  assert.match(await read('What is the default of bodyLimit?', content), /Default: 1048576/)
  const commands = 'Tests run before each release.\n\nTo run the tests of one package, use:\n\n```sh\nnpm test -w packages/core\n```'
  assert.match(await read('How do I run the tests of a single package?', commands), /npm test -w packages\/core/)
})

test('a question that the passages do not answer is refused', async () => {
  for (const question of ['Who painted the Mona Lisa?', 'What is the boiling point of nitrogen?', 'How do I bake sourdough bread?'])
    assert.match(joinText(await ask(question, { passages })), /^I found no answer in 2 documents\. The closest passages:\n\n- /)
})

test('a follow-up question is read with the subject of the question before', async () => {
  const content = '### bodyLimit\n\nThe largest body that the server accepts. The default of bodyLimit is 1048576 bytes.'
  const messages = [
    { role: 'user' as const, content: 'What does `bodyLimit` do?' },
    { role: 'assistant' as const, content: 'It limits the body.' },
    { role: 'user' as const, content: 'What is its default?' },
  ]
  assert.match(joinText(await ask('', { messages, passages: [{ content, source: 'a.md', page: 1 }] })), /1048576/)
})

test('hostile passages are read or skipped without harm', async () => {
  const hostile = [
    'x'.repeat(50_000),
    '🙂'.repeat(5_000),
    'مرحبا بالعالم '.repeat(500),
    '\u0000\u0007\u001b[31m\u202e\u200d'.repeat(1_000),
    '',
    ' \n\t',
    '#'.repeat(10_000),
    '|'.repeat(10_000),
    `${'a '.repeat(9_000)}.`,
  ].map((content) => ({ content, source: 'hostile.md', page: 1, headings: ['\u0000', '🙂'.repeat(300)] }))
  for (const passage of hostile) assert.ok(joinText(await ask('What is the limit?', { passages: [passage] })).length < 2_000)
  const text = joinText(await ask('How many days of paid leave do employees have?', { passages: [...hostile.slice(0, 6), ...passages] }))
  assert.match(text, /“Employees have thirty days of paid leave a year\.” \[8\]/)
})

test('without passages the model reports why', async () => {
  assert.match(
    joinText(await ask('What?', { passages: [], countDocuments: async () => ({ documents: 3, recognizing: 0, skipped: 0 }) })),
    /^I found no answer in 3 documents\.$/,
  )
  assert.match(joinText(await ask('What?')), /This agent has no documents\./)
  assert.match(joinText(await ask('Hello!', { passages })), /^I am the embedded model of Cadre\..*Ask me something about them\.$/)
})

test('aborting ends the answer', async () => {
  const abort = new AbortController()
  abort.abort(new Error('enough'))
  await ask('What is it?', { passages, signal: abort.signal }).then(
    () => assert.unreachable(),
    (error) => assert.is(error.message, 'enough'),
  )
})

test.run()
