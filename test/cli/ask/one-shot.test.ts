/** Tests of `cadre ask` without an agent, and with images. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReplyEvent } from '../../../src/contract/reply-events.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { disconnectAfter, respondWithError, ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'

const test = suite('one-shot prompts')
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
const LETTER = /^What is in @letter\.png\?\n\nletter\.png:\n```markdown\n[\s\S]*Harbour View/
let terminal: Terminal
let provider: ScriptedProvider
let folder: string
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    folder = join(terminal.home, '..')
    provider = await ScriptedProvider.start('openai', streamText('Hello.'))
    await terminal.run(['daemon', 'start'])
    await terminal.request('POST', '/models', { name: 'scripted', ...provider.model })
    await terminal.request('POST', '/models', { name: 'blind', ...provider.model, supports_images: false })
    writeFileSync(join(folder, 'picture.png'), PNG)
    writeFileSync(join(folder, 'notes.txt'), 'Two cats.')
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await provider.close()
  }),
)
test.before.each(() => {
  provider.script = [streamText('Hello.')]
})

const getMessages = () => provider.received.at(-1)?.body.messages
const countConversations = async () => (await terminal.request('GET', '/conversations')).data.length

test('ask --model works without an agent and stores nothing', async () => {
  const { code, stdout, stderr } = await terminal.run(['ask', '--model', 'scripted', 'Say', 'hello'])
  assert.equal([code, stdout], [0, 'Hello.\n'], stderr)
  assert.equal(getMessages(), [{ role: 'user', content: 'Say hello' }], 'all arguments are the question')
  assert.is(await countConversations(), 0)
})

test('--system gives instructions, also from a file, and piped input is sent with the question', async () => {
  const words = ['ask', '-m', 'scripted', '--system', 'Be brief.', 'Count @notes.txt']
  assert.is((await terminal.run(words, { input: 'one dog' })).code, 0)
  const [system, user] = getMessages()
  assert.equal(system, { role: 'system', content: 'Be brief.' })
  assert.match(user.content, /Count @notes\.txt[\s\S]+Two cats\.[\s\S]+<stdin>\none dog/)
  await terminal.run(['ask', '-m', 'scripted', '-s', '@notes.txt', 'x'])
  assert.is(getMessages()[0].content, 'Two cats.')
})

test('ask --json prints the events of a reply', async () => {
  const { stdout } = await terminal.run(['ask', '-m', 'scripted', 'Hi', '--json'])
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ReplyEvent)
  assert.equal([events.at(0)?.event, events.at(-1)?.event], ['message_start', 'message_end'])
  const end = events.at(-1)
  if (end?.event !== 'message_end') throw new Error('no message_end')
  assert.equal([end.data.message.content, end.data.message.finish_reason], ['Hello.', 'stop'])
  assert.ok((end.data.message.usage?.total_tokens ?? 0) > 0)
})

test('without agents the default model is asked, unless it only quotes documents', async () => {
  const embedded = await terminal.run(['ask', 'hello'])
  assert.is(embedded.code, 3)
  assert.match(embedded.stderr, 'There are no agents')
  const system = await terminal.run(['ask', '--system', 'Be brief.', 'hello'])
  assert.is(system.code, 2)
  assert.match(system.stderr, 'only quotes documents')
  await terminal.run(['config', 'set', 'default-model', 'scripted'])
  assert.is((await terminal.run(['ask', 'hello'])).stdout, 'Hello.\n')
  assert.is((await terminal.run(['ask', '--system', 'Be brief.', 'hello'])).code, 0)
})

test('errors of a prompt have the exit codes of other commands', async () => {
  const unknown = await terminal.run(['ask', '--model', 'scriptd', 'hello'])
  assert.is(unknown.code, 3)
  assert.match(unknown.stderr, 'scripted')
  provider.script = [respondWithError(400, 'no such deployment')]
  const failed = await terminal.run(['ask', '--model', 'scripted', 'hello'])
  assert.is(failed.code, 1)
  assert.match(failed.stderr, 'no such deployment')
  provider.script = [disconnectAfter('Once', ' upon')]
  const lost = await terminal.run(['ask', '--model', 'scripted', 'hello'])
  assert.equal([lost.code, lost.stdout], [1, 'Once upon\n'])
  const both = await terminal.run(['ask', '--system', 'x', '--agent', 'Helper', 'hello'])
  assert.is(both.code, 2)
})

test('images named with @ are sent to the model, and as text to models that cannot read them', async () => {
  const { code, stderr } = await terminal.run(['ask', '--model', 'scripted', 'What is on @picture.png?'])
  assert.is(code, 0, stderr)
  assert.equal(getMessages()[0].content, [
    { type: 'text', text: 'What is on @picture.png?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } },
  ])
  const before = provider.received.length
  const refused = await terminal.run(['ask', '--model', 'blind', 'What is on @picture.png?'])
  assert.is(refused.code, 2)
  assert.match(refused.stderr, /Error: The model "blind" cannot read images\. picture\.png cannot be read\. .* too small to have text/)
  assert.is(provider.received.length, before)
  copyFileSync(new URL('../../knowledge/recognition/fixtures/letter.png', import.meta.url), join(folder, 'letter.png'))
  const recognized = await terminal.run(['ask', '--model', 'blind', 'What is in @letter.png?'])
  assert.is(recognized.code, 0, recognized.stderr)
  assert.match(recognized.stderr, 'cannot read images. The text of letter.png is recognised and sent instead.')
  assert.match(getMessages()[0].content, LETTER)
})

test('images are sent to agents, too large and too many are rejected, and other binary files', async () => {
  const { data: model } = await terminal.request('GET', '/models?name=scripted')
  await terminal.request('POST', '/agents', { name: 'Helper', model_id: model[0].id })
  assert.is((await terminal.run(['ask', 'Helper', 'Look at @picture.png'])).code, 0)
  assert.is(getMessages().at(-1).content[1].type, 'image_url')
  const overridden = await terminal.run(['ask', '--agent', 'Helper', '--model', 'blind', 'Look at @picture.png'])
  assert.is(overridden.code, 2, 'the model of --model answers for the agent')
  assert.is((await terminal.run(['ask', '--agent', 'Helper', '--model', 'blind', 'What is in @letter.png?'])).code, 0)
  assert.match(getMessages().at(-1).content, LETTER)
  writeFileSync(join(folder, 'large.png'), Buffer.concat([PNG, Buffer.alloc(11 * 1024 * 1024)]))
  writeFileSync(join(folder, 'data.bin'), Buffer.from([0, 255, 0, 255]))
  for (let index = 0; index < 11; index++) writeFileSync(join(folder, `p${index}.png`), PNG)
  const many = Array.from({ length: 11 }, (_, index) => `@p${index}.png`).join(' ')
  for (const [question, problem] of [
    ['@large.png', 'is the maximum of an image'],
    ['@data.bin', 'neither a UTF-8 text file nor a PNG'],
    [many, 'the maximum is 10'],
  ] as const) {
    const { code, stderr } = await terminal.run(['ask', '--model', 'scripted', `Look at ${question}`])
    assert.is(code, 2, question)
    assert.match(stderr, problem)
  }
})

test('the first of several arguments is the agent if one has this name, also with --model', async () => {
  const before = await countConversations()
  assert.is((await terminal.run(['ask', 'Helper', '--model', 'scripted', 'Who are you?'])).code, 0)
  assert.equal(getMessages().at(-1), { role: 'user', content: 'Who are you?' })
  assert.is((await terminal.run(['ask', 'Helper', '--model', 'scripted'], { input: 'Piped?' })).code, 0)
  assert.equal(getMessages().at(-1), { role: 'user', content: 'Piped?' })
  assert.is(await countConversations(), before + 2)
  await terminal.run(['ask', '--model', 'scripted', 'Helper who'])
  assert.equal(getMessages().at(-1), { role: 'user', content: 'Helper who' })
  assert.is(await countConversations(), before + 2, 'a quoted question goes to the model')
  const system = await terminal.run(['ask', 'Helper', '--system', 'Be brief.', 'Who are you?'])
  assert.is(system.code, 2)
  assert.match(system.stderr, '--system cannot be combined with an agent, and "Helper" is one')
})

test('--model Embedded answers from the documents of the agent, and an unknown model leaves no conversation', async () => {
  const ships = join(folder, 'ships')
  mkdirSync(ships)
  writeFileSync(join(ships, 'owners.md'), '# Ships\n\nThe owner of juno-01 is Ada Bell.\n')
  await terminal.run(['knowledge', 'add', ships, '--quiet'])
  await terminal.json(['agents', 'create', '--name', 'Librarian', '--model', 'scripted', '--tool', 'ships'])
  const before = await countConversations()
  const unknown = await terminal.run(['ask', '--agent', 'Librarian', '--model', 'nope', 'Who owns juno-01?'])
  assert.is(unknown.code, 3)
  assert.is(await countConversations(), before)
  const { code, stdout, stderr } = await terminal.run(['ask', '--agent', 'Librarian', '--model', 'Embedded', 'Who owns juno-01?'])
  assert.is(code, 0, stderr)
  assert.match(stdout, 'Ada Bell')
  const piped = await terminal.run(['ask', 'Librarian', '-m', 'Embedded', 'Who owns juno-01?'], { input: 'ignored' })
  assert.match(piped.stderr, /Embedded only quotes the agent's documents and cannot read stdin/)
})

test.run()
