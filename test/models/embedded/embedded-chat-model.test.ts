import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getModelsDirectory } from '../../../daemon/embedding/paths.ts'
import { EmbeddingService } from '../../../daemon/embedding/service.ts'
import type { ChatModel, ChatRequest } from '../../../daemon/models/chat-model.ts'
import { EmbeddedChatModel } from '../../../daemon/models/embedded/embedded-chat-model.ts'
import { createTestLogger } from '../../embedding/test-logger.ts'
import { aloud } from '../../harness/hooks.ts'
import { collectParts, createRequest, joinText } from '../providers/provider-fixture.ts'

const test = suite('the embedded model')
let embedding: EmbeddingService
let model: ChatModel

test.before(
  aloud(() => {
    embedding = new EmbeddingService({
      modelsDirectory: getModelsDirectory(),
      findRemoteModel: async () => undefined,
      workers: 1,
      logger: createTestLogger(),
    })
    model = new EmbeddedChatModel('model_1', 'Embedded', () => embedding.getEmbedder('minilm'))
  }),
)
test.after(aloud(() => embedding.close()))

const passages = [
  { content: 'The office is open from nine to five.', source: 'office.md', page: 1 },
  { content: 'Employees have thirty days of paid leave a year. Leave is asked for in writing.', source: 'leave.md', page: 1 },
]
const asked = async (content: string, more: Partial<ChatRequest> = {}) => collectParts(model, { ...createRequest(content), ...more })

test('it quotes the passage that answers, in pieces, and counts what it read and said for nothing', async () => {
  const parts = await asked('How many days of paid leave do employees have?', { passages })
  const text = joinText(parts)
  assert.is(text, '“Employees have thirty days of paid leave a year.” [2]')
  assert.ok(parts.length > 2)
  const end = parts.at(-1)
  assert.ok(end?.type === 'end' && end.finishReason === 'stop' && (end.usage?.inputTokens ?? 0) > 20 && (end.usage?.outputTokens ?? 0) > 10)
  assert.equal(model.price, { input: 0, output: 0 })
})

test('an amount is quoted with what it is of, not only under a heading that names that', async () => {
  for (const rule of [
    'Every employee has twenty-eight days of paid leave a year.',
    'Every employee of Birchwood Ltd has 27 days of paid leave a year.',
  ])
    for (const question of ['How many days of leave do I have?', 'How many days of leave do I get?', 'How many leave days do I have?']) {
      const content = `# Leave\n\n${rule} Up to 5 unused days may be carried over until 31 March.`
      const text = joinText(await asked(question, { passages: [{ content, source: 'leave.md', page: 1 }] }))
      assert.ok(text.startsWith(`“${rule}” [1]`), `${question} ${text}`)
    }
})

test('a number in brackets that a document has itself refers to nothing', async () => {
  const content = 'Employees have thirty days of paid leave a year[1], as args[12] says.'
  const noted = [...passages.slice(0, 1), { content, source: 'leave.md', page: 1 }]
  const text = joinText(await asked('How many days of paid leave do employees have?', { passages: noted }))
  assert.is(text, '“Employees have thirty days of paid leave a year[\u20601], as args[\u206012] says.” [2]')
})

test('it quotes no code, also where the passage begins in the middle of it', async () => {
  const commands = ['cadre conversations export', '', 'cadre chat Helper', '```', 'Conversations are exported as Markdown or as JSON.']
  for (const content of [commands.join('\n'), ['Some commands:', '', '```sh', ...commands].join('\n')])
    assert.is(
      joinText(await asked('How are conversations exported?', { passages: [{ content, source: 'README.md', page: 1 }] })),
      '“Conversations are exported as Markdown or as JSON.” [1]',
    )
})

test('asked how to do something, it gives the commands below the sentence it quotes, as they stand', async () => {
  const commands = '```sh\nsteward count --cellar north_wing   # slowly\n```'
  const content = `# Cellar\n\nBottles lie in the cellar. To count the bottles, ask the steward:\n\n${commands}\n\nThe steward sleeps at noon.`
  const given = { passages: [{ content, source: 'cellar.md', page: 1 }] }
  assert.is(joinText(await asked('How do I count the bottles?', given)), `“To count the bottles, ask the steward:” [1]\n${commands}`)
  assert.is(joinText(await asked('Where do the bottles lie?', given)), '“Bottles lie in the cellar.” [1]')
  assert.is(joinText(await asked('When does the steward sleep?', given)), '“The steward sleeps at noon.” [1]')
})

test('commands below a sentence that does not announce them are given only to those who ask for a way', async () => {
  const commands = '```sh\nbrush --oil hinges\n```'
  const given = { passages: [{ content: `The hinges of the gate are oiled with a brush.\n\n${commands}`, source: 'gate.md', page: 1 }] }
  const quote = '“The hinges of the gate are oiled with a brush.” [1]'
  assert.is(joinText(await asked('How do I oil the hinges of the gate?', given)), `${quote}\n${commands}`)
  assert.is(joinText(await asked('Are the hinges of the gate oiled?', given)), quote)
})

test('a command with a comment answers how to do something, and nothing else; what it says in quotation marks is not what it does', async () => {
  const content =
    "```sh\nsteward list   # shows every guest of the house\nsteward ask 'Who won the cup in 1998?'   # sends him a message\n```"
  const given = { passages: [{ content, source: 'steward.md', page: 1 }] }
  assert.is(joinText(await asked('How do I show every guest?', given)), '“steward list # shows every guest of the house” [1]')
  assert.is(joinText(await asked('How can I find out who won the cup in 1998?', given)), 'This is not in your documents.')
  assert.is(joinText(await asked('Which guest of the house is shown?', given)), 'This is not in your documents.')
})

test('asked what something is, it prefers the sentence that says so', async () => {
  const content =
    '# Wardens\n\nA warden who finds a lantern out writes it down. The warden walks at night. A warden is a person who looks after lanterns.'
  assert.is(
    joinText(await asked('What is a warden?', { passages: [{ content, source: 'wardens.md', page: 1 }] })),
    '“A warden is a person who looks after lanterns.” [1]',
  )
})

test('a sentence is understood by the headings above it, also where they stand in another passage', async () => {
  const content = 'Shut the valves and empty the tank. A wet finger shows where it leaks.'
  const given = { content, source: 'manual.md', page: 1 }
  const answer = async (headings: string[]) =>
    joinText(await asked('How do I prepare the boiler for winter?', { passages: [{ ...given, headings }] }))
  assert.match(await answer(['Boiler', 'Preparing the boiler for winter']), /Shut the valves and empty the tank.” \[1\]/)
  assert.is(await answer([]), 'This is not in your documents.')
})

test('in a language without spaces it finds names that no dictionary has, and refuses what only shares characters', async () => {
  const given = { passages: [{ content: '哈姆雷特由莎士比亚写成。雷雨之后，姆妈在特区喝茶。', source: 'a.md', page: 1 }] }
  assert.is(joinText(await asked('谁写了哈姆雷特？', given)), '“哈姆雷特由莎士比亚写成。” [1]')
  assert.is(joinText(await asked('埃菲尔铁塔有多高？', given)), 'This is not in your documents.')
})

test('it answers the last question, whatever stood before', async () => {
  const messages = [
    { role: 'system' as const, content: 'You are a pirate.' },
    { role: 'user' as const, content: 'How many days of paid leave do employees have?' },
    { role: 'assistant' as const, content: 'Thirty.' },
    { role: 'user' as const, content: 'When is the office open?' },
  ]
  assert.match(joinText(await asked('', { messages, passages })), /nine to five.” \[1\]/)
})

test('it says what it is where there is nothing to quote', async () => {
  assert.match(joinText(await asked('What is the capital of France?')), /model that comes with Cadre.*no documents/s)
  assert.match(joinText(await asked('Hello!', { passages })), /model that comes with Cadre.*Ask me something/s)
  assert.is(joinText(await asked('What is the capital of France?', { passages })), 'This is not in your documents.')
  assert.is(joinText(await asked('What is the capital of France?', { passages: [] })), 'This is not in your documents.')
})

test('an abort ends it', async () => {
  const abort = new AbortController()
  abort.abort(new Error('enough'))
  await asked('x', { passages, signal: abort.signal }).then(
    () => assert.unreachable(),
    (error) => assert.is(error.message, 'enough'),
  )
})

test.run()
