import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getModelsDirectory } from '../../../daemon/embedded-models/paths.ts'
import { EmbeddingService } from '../../../daemon/embedding/service.ts'
import type { ChatModel, ChatRequest } from '../../../daemon/models/chat-model.ts'
import { EmbeddedChatModel } from '../../../daemon/models/embedded/embedded-chat-model.ts'
import { createTestLogger } from '../../embedding/test-logger.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { collectParts, createRequest, joinText } from '../providers/provider-fixture.ts'

const test = suite('embedded chat model')
let embedding: EmbeddingService
let model: ChatModel

test.before(
  reportFailure(() => {
    embedding = new EmbeddingService({
      modelsDirectory: getModelsDirectory(),
      findRemoteModel: async () => undefined,
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
const ask = async (content: string, options: Partial<ChatRequest> = {}) => collectParts(model, { ...createRequest(content), ...options })

test('the embedded model streams a quote of the passage that answers, and reports usage at no cost', async () => {
  const parts = await ask('How many days of paid leave do employees have?', { passages })
  const text = joinText(parts)
  assert.is(text, '“Employees have thirty days of paid leave a year.” [2]')
  assert.ok(parts.length > 2)
  const end = parts.at(-1)
  assert.ok(end?.type === 'end' && end.finishReason === 'stop' && (end.usage?.inputTokens ?? 0) > 20 && (end.usage?.outputTokens ?? 0) > 10)
  assert.equal(model.price, { input: 0, output: 0 })
})

test('for amounts, the sentence that names the subject is preferred to one under a matching heading', async () => {
  for (const rule of [
    'Every employee has twenty-eight days of paid leave a year.',
    'Every employee of Birchwood Ltd has 27 days of paid leave a year.',
  ])
    for (const question of ['How many days of leave do I have?', 'How many days of leave do I get?', 'How many leave days do I have?']) {
      const content = `# Leave\n\n${rule} Up to 5 unused days may be carried over until 31 March.`
      const text = joinText(await ask(question, { passages: [{ content, source: 'leave.md', page: 1 }] }))
      assert.ok(text.startsWith(`“${rule}” [1]`), `${question} ${text}`)
    }
})

test('numbers in brackets in a document are escaped, so that they are not citations', async () => {
  const content = 'Employees have thirty days of paid leave a year[1], as args[12] says.'
  const noted = [...passages.slice(0, 1), { content, source: 'leave.md', page: 1 }]
  const text = joinText(await ask('How many days of paid leave do employees have?', { passages: noted }))
  assert.is(text, '“Employees have thirty days of paid leave a year[\u20601], as args[\u206012] says.” [2]')
})

test('code is not quoted, even if the passage starts inside of it', async () => {
  const commands = ['cadre conversations export', '', 'cadre chat Helper', '```', 'Conversations are exported as Markdown or as JSON.']
  for (const content of [commands.join('\n'), ['Some commands:', '', '```sh', ...commands].join('\n')])
    assert.is(
      joinText(await ask('How are conversations exported?', { passages: [{ content, source: 'README.md', page: 1 }] })),
      '“Conversations are exported as Markdown or as JSON.” [1]',
    )
})

test('how-to questions return the commands below the quoted sentence unchanged', async () => {
  const commands = '```sh\nsteward count --cellar north_wing   # slowly\n```'
  const content = [
    '# Cellar',
    'Bottles lie in the cellar. To count the bottles, ask the steward:',
    commands,
    'The steward sleeps at noon.',
  ].join('\n\n')
  const given = { passages: [{ content, source: 'cellar.md', page: 1 }] }
  assert.is(joinText(await ask('How do I count the bottles?', given)), `“To count the bottles, ask the steward:” [1]\n${commands}`)
  assert.is(joinText(await ask('Where do the bottles lie?', given)), '“Bottles lie in the cellar.” [1]')
  assert.is(joinText(await ask('When does the steward sleep?', given)), '“The steward sleeps at noon.” [1]')
})

test('commands below a sentence without a colon are returned only for how-to questions', async () => {
  const commands = '```sh\nbrush --oil hinges\n```'
  const given = { passages: [{ content: `The hinges of the gate are oiled with a brush.\n\n${commands}`, source: 'gate.md', page: 1 }] }
  const quote = '“The hinges of the gate are oiled with a brush.” [1]'
  assert.is(joinText(await ask('How do I oil the hinges of the gate?', given)), `${quote}\n${commands}`)
  assert.is(joinText(await ask('Are the hinges of the gate oiled?', given)), quote)
})

test('a commented command answers only how-to questions, and not by its quoted arguments', async () => {
  const content =
    "```sh\nsteward list   # shows every guest of the house\nsteward ask 'Who won the cup in 1998?'   # sends him a message\n```"
  const given = { passages: [{ content, source: 'steward.md', page: 1 }] }
  assert.is(joinText(await ask('How do I show every guest?', given)), '“steward list # shows every guest of the house” [1]')
  assert.is(joinText(await ask('How can I find out who won the cup in 1998?', given)), 'This is not in your documents.')
  assert.is(joinText(await ask('Which guest of the house is shown?', given)), 'This is not in your documents.')
})

test('definition questions prefer the sentence that defines the term', async () => {
  const content =
    '# Wardens\n\nA warden who finds a lantern out writes it down. The warden walks at night. ' +
    'A warden is a person who looks after lanterns.'
  assert.is(
    joinText(await ask('What is a warden?', { passages: [{ content, source: 'wardens.md', page: 1 }] })),
    '“A warden is a person who looks after lanterns.” [1]',
  )
})

test('the headings of a passage count for its sentences', async () => {
  const content = 'Shut the valves and empty the tank. A wet finger shows where it leaks.'
  const given = { content, source: 'manual.md', page: 1 }
  const answer = async (headings: string[]) =>
    joinText(await ask('How do I prepare the boiler for winter?', { passages: [{ ...given, headings }] }))
  assert.match(await answer(['Boiler', 'Preparing the boiler for winter']), /Shut the valves and empty the tank.” \[1\]/)
  assert.is(await answer([]), 'This is not in your documents.')
})

test('in Chinese, unknown names are found and sentences that only share characters are not', async () => {
  const given = { passages: [{ content: '哈姆雷特由莎士比亚写成。雷雨之后，姆妈在特区喝茶。', source: 'a.md', page: 1 }] }
  assert.is(joinText(await ask('谁写了哈姆雷特？', given)), '“哈姆雷特由莎士比亚写成。” [1]')
  assert.is(joinText(await ask('埃菲尔铁塔有多高？', given)), 'This is not in your documents.')
})

test('only the last question of a conversation is answered', async () => {
  const messages = [
    { role: 'system' as const, content: 'You are a pirate.' },
    { role: 'user' as const, content: 'How many days of paid leave do employees have?' },
    { role: 'assistant' as const, content: 'Thirty.' },
    { role: 'user' as const, content: 'When is the office open?' },
  ]
  assert.match(joinText(await ask('', { messages, passages })), /nine to five.” \[1\]/)
})

test('without a quote, the embedded model introduces itself or says that the answer is not in the documents', async () => {
  assert.match(joinText(await ask('What is the capital of France?')), /embedded model of Cadre.*no documents/s)
  assert.match(joinText(await ask('Hello!', { passages })), /embedded model of Cadre.*Ask me something/s)
  assert.is(joinText(await ask('What is the capital of France?', { passages })), 'This is not in your documents.')
  assert.is(joinText(await ask('What is the capital of France?', { passages: [] })), 'This is not in your documents.')
})

test('an abort ends the stream with its reason', async () => {
  const abort = new AbortController()
  abort.abort(new Error('enough'))
  await ask('x', { passages, signal: abort.signal }).then(
    () => assert.unreachable(),
    (error) => assert.is(error.message, 'enough'),
  )
})

test.run()
