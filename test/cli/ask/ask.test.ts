/** Tests of `cadre ask`: choosing the agent, attachments, streaming and errors. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EMBEDDED_MODEL_ID } from '../../../src/contract/families/models.ts'
import type { ReplyEvent } from '../../../src/contract/reply-events.ts'
import { type CommandResult, openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import {
  disconnectAfter,
  hang,
  type ScriptedProvider as Provider,
  respondWithError,
  ScriptedProvider,
  stallAfter,
  streamReply,
  streamText,
} from '../../harness/scripted-provider.ts'
import { readSample } from '../../knowledge/readers/samples.ts'

const test = suite('ask')
let terminal: Terminal
let provider: Provider
let scripted: string
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    provider = await ScriptedProvider.start('openai', streamText('Hello.'))
    await terminal.run(['daemon', 'start'])
    scripted = (await terminal.request('POST', '/models', { name: 'scripted', ...provider.model })).data.id
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await provider.close()
  }),
)

/** The last message that the model received. */
const getLastPrompt = (): string => provider.received.at(-1)?.body.messages.at(-1).content
const newest = async () => (await terminal.request('GET', '/conversations?limit=1')).data[0]?.id ?? ''
const events = ({ stdout }: CommandResult) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ReplyEvent)

test('ask without any agent fails and explains how to create one', async () => {
  const { code, stdout, stderr } = await terminal.run(['ask', 'Hello?'])
  assert.equal([code, stdout], [3, ''])
  assert.match(stderr, 'cadre quickstart')
  assert.match(stderr, 'cadre agents create')
  await terminal.request('POST', '/agents', { name: 'Helper', model_id: scripted })
})

test('ask uses the only agent and writes its reply to stdout, without escape sequences unless --raw is given', async () => {
  provider.script = [streamText('**Twenty-five** ', 'days \u001b', '[1ma\u0007 year.')]
  const { code, stdout, stderr } = await terminal.run(['ask', 'How many days?'])
  assert.equal([code, stdout, stderr], [0, '**Twenty-five** days a year.\n', ''])
  assert.is(getLastPrompt(), 'How many days?')
  const raw = await terminal.run(['ask', 'How many days?', '--raw'])
  assert.is(raw.stdout, '**Twenty-five** days \u001b[1ma\u0007 year.\n')
})

test('a blocked first message leaves no untitled conversation', async () => {
  const budget = { metric: 'tokens', limit: 0, period: 'day', action: 'block', name: 'Nothing' }
  const { id } = (await terminal.request('POST', '/usage/thresholds', budget)).data
  const before = await newest()
  const { code, stderr } = await terminal.run(['ask', 'Blocked?'])
  assert.is(code, 1)
  assert.match(stderr, 'The limit "Nothing" of 0 tokens per day for all usage is reached')
  assert.is(await newest(), before)
  await terminal.request('DELETE', `/usage/thresholds/${id}`)
})

test('a failed first message leaves a conversation with its question as title', async () => {
  provider.script = [respondWithError(400)]
  assert.is((await terminal.run(['ask', 'Will this fail?'])).code, 1)
  assert.is((await terminal.request('GET', '/conversations?limit=1')).data[0].title, 'Will this fail?')
  provider.script = [streamText('Hello.')]
})

test('unquoted words after the agent form the question', async () => {
  await terminal.run(['ask', 'Helper', 'how', 'many', 'days?'])
  assert.is(getLastPrompt(), 'how many days?')
  await terminal.run(['ask', '--agent', 'Helper', 'how', 'many'])
  assert.is(getLastPrompt(), 'how many')
})

test('an unquoted question whose first word is no agent gets a hint to quote it', async () => {
  const { code, stderr } = await terminal.run(['ask', 'how', 'many'])
  assert.is(code, 3)
  assert.match(stderr, 'There is no agent "how"')
  const flagged = await terminal.run(['ask', '--agent', 'Nobody', 'how', 'many'])
  assert.is(flagged.code, 3)
  assert.match(flagged.stderr, 'There is no agent "Nobody"')
  assert.not.match(flagged.stderr, /part of the question/)
  assert.match(stderr, "cadre ask 'how many'")
})

test('stdin is attached to the question, and is the question if there is none', async () => {
  await terminal.run(['ask', 'What broke?'], { input: 'line 1\nerror: ENOSPC\n' })
  assert.is(getLastPrompt(), 'What broke?\n\n<stdin>\nline 1\nerror: ENOSPC\n</stdin>')
  for (const words of [['ask'], ['ask', '-'], ['ask', 'Helper', '-']]) {
    await terminal.run(words, { input: `Why ${words.length}?\n` })
    assert.is(getLastPrompt(), `Why ${words.length}?`)
  }
  await terminal.run(['ask', 'Helper'], { input: 'And what of this?\n' })
  assert.is(getLastPrompt(), 'And what of this?', 'stdin is the question for a named agent')
  await terminal.run(['ask', 'Nothing?'], { input: '\n' })
  assert.is(getLastPrompt(), 'Nothing?')
  await terminal.run(['ask', 'Alone?', '--no-stdin'], { input: 'not this' })
  assert.is(getLastPrompt(), 'Alone?')
})

test('a file named with @ is attached, and a missing one is reported and sent as text', async () => {
  const cwd = terminal.home
  writeFileSync(join(cwd, 'notes.md'), 'Milk and @eggs.md\n')
  const file = 'notes.md:\n```md\nMilk and @eggs.md\n```'
  const { code, stderr } = await terminal.run(['ask', 'What is in @notes.md?'], { cwd })
  assert.equal([code, stderr, getLastPrompt()], [0, '', `What is in @notes.md?\n\n${file}`])
  await terminal.run(['ask', 'Compare @notes.md'], { cwd, input: 'Flour, see @notes.md' })
  assert.is(getLastPrompt(), `Compare @notes.md\n\n${file}\n\n<stdin>\nFlour, see @notes.md\n</stdin>`)
  const missing = await terminal.run(['ask', 'Ask @ada about @note.md'], { cwd })
  assert.equal([missing.code, getLastPrompt()], [0, 'Ask @ada about @note.md'])
  assert.match(missing.stderr, /@note\.md: no such file: .* Did you mean @notes\.md\? Sent as plain text/)
  await terminal.run(['ask', '-'], { cwd, input: 'Read @notes.md' })
  assert.is(getLastPrompt(), 'Read @notes.md')
  const folder = await terminal.run(['ask', 'What is in @logs?'], { cwd })
  assert.is(folder.code, 2)
  assert.match(folder.stderr, 'logs is a directory')
})

test('a document named with @ is attached as text, and one that cannot be read is reported', async () => {
  const cwd = terminal.home
  writeFileSync(join(cwd, 'reply.eml'), readSample('reply.eml'))
  writeFileSync(join(cwd, 'broken.pdf'), '%PDF-1.7\nnothing')
  const { code, stderr } = await terminal.run(['ask', 'Who wrote @reply.eml?'], { cwd })
  assert.equal([code, stderr], [0, ''])
  assert.match(getLastPrompt(), /^Who wrote @reply\.eml\?\n\nreply\.eml:\n```markdown\n# [\s\S]*From: [\s\S]*\n```$/)
  const broken = await terminal.run(['ask', 'What is in @broken.pdf?'], { cwd })
  assert.is(broken.code, 2)
  assert.match(broken.stderr, 'broken.pdf cannot be read. ')
})

test('a model that only quotes documents receives no attachments, and ask says so', async () => {
  const quoter = (await terminal.request('POST', '/agents', { name: 'Quoter', model_id: EMBEDDED_MODEL_ID })).data.id
  const { code, stderr } = await terminal.run(['ask', 'Quoter', 'What is the code?'], { input: 'The code is 1234.' })
  assert.is(code, 0, stderr)
  assert.match(stderr, /Embedded only quotes the agent's documents and cannot read stdin/)
  writeFileSync(join(terminal.home, 'code.txt'), '1234')
  const filed = await terminal.run(['ask', 'Quoter', 'What is in @code.txt?'], { cwd: terminal.home })
  assert.match(filed.stderr, /cannot read code\.txt, which was not sent/)
  await terminal.request('DELETE', `/conversations/${await newest()}`)
  const id = await newest()
  const { messages } = await terminal.json<{ messages: { role: string; content: string }[] }>(['conversations', 'show', id])
  assert.is(messages.find(({ role }) => role === 'user')?.content, 'What is the code?')
  await terminal.request('DELETE', `/conversations/${id}`)
  await terminal.request('DELETE', `/agents/${quoter}`)
})

test('input that is too long, binary or empty is rejected before anything is sent', async () => {
  const before = provider.received.length
  const long = await terminal.run(['ask', 'What?'], { input: 'a'.repeat(500_001) })
  assert.is(long.code, 2)
  assert.match(long.stderr, '500,000 characters')
  const binary = await terminal.run(['ask', 'What?'], { input: 'PK\u0003\u0004\u0000\u0000' })
  assert.is(binary.code, 2)
  assert.match(binary.stderr, 'not text')
  assert.match((await terminal.run(['ask', '-'], { input: ' ' })).stderr, 'There is no question: stdin is empty.')
  assert.match((await terminal.run(['ask'])).stderr, 'There is no question')
  assert.is(provider.received.length, before)
})

test('a message of the maximum length arrives, also in multi-byte scripts', async () => {
  const { code } = await terminal.run(['ask', 'What?'], { input: '語'.repeat(499_900) })
  assert.is(code, 0)
  assert.ok(getLastPrompt().length > 499_900)
})

test('--continue and --conversation continue a conversation; otherwise ask starts a new one', async () => {
  provider.script = [streamText('Fine.')]
  await terminal.run(['ask', 'First of all'])
  await terminal.json(['conversations', 'create', '--agent', 'Helper', '--user-id', 'bob', '--title', 'Of another user'])
  const continued = await terminal.run(['ask', '--continue', 'And then?'])
  assert.match(continued.stderr, 'Continuing "First of all"')
  assert.equal(
    provider.received.at(-1)?.body.messages.map(({ content }: { content: string }) => content),
    ['First of all', 'Fine.', 'And then?'],
  )
  await terminal.run(['ask', 'Something else'])
  assert.is(provider.received.at(-1)?.body.messages.length, 1)
  await terminal.run(['ask', '--conversation', 'First of all', 'Back', 'again'])
  assert.is(provider.received.at(-1)?.body.messages.length, 5)
  assert.is((await terminal.run(['ask', '-c', 'No such thing', 'Hello?'])).code, 3)
})

test('--json prints each event on its own line', async () => {
  provider.script = [streamText('One ', 'two\u202e.')]
  const ran = await terminal.run(['ask', 'Count', '--json'])
  assert.equal([ran.code, ran.stderr], [0, ''])
  const names = events(ran).map(({ event }) => event)
  assert.equal([names[0], names.at(-1)], ['message_start', 'message_end'])
  assert.is(
    events(ran)
      .map((event) => (event.event === 'message_delta' ? event.data.text : ''))
      .join(''),
    'One two\u202e.',
  )
  assert.not.match(ran.stdout, '\u202e')
})

test('an error of the provider is printed after the partial reply, and ask exits with 1', async () => {
  provider.script = [respondWithError(400)]
  const refused = await terminal.run(['ask', 'Hello?'])
  assert.equal([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, 'scripted error 400')
  provider.script = [disconnectAfter('Half of it')]
  const cut = await terminal.run(['ask', 'Hello?'])
  assert.equal([cut.code, cut.stdout], [1, 'Half of it\n'])
  assert.match(cut.stderr, 'Error: ')
  const json = await terminal.run(['ask', 'Hello?', '--json'])
  assert.equal([json.code, events(json).at(-1)?.event, (JSON.parse(json.stderr) as { code: string }).code], [1, 'error', 'PROVIDER_ERROR'])
})

test('a reply truncated at the maximum length prints a notice', async () => {
  provider.script = [streamReply({ text: ['Half'], finish: 'length' })]
  const { code, stderr } = await terminal.run(['ask', 'Long?'])
  assert.is(code, 0)
  assert.match(stderr, 'The reply was truncated')
})

test('ask prints text as it arrives, and Ctrl+C aborts the reply', async () => {
  provider.script = [stallAfter('So far')]
  const arrival = provider.nextRequest()
  const child = terminal.start(['ask', 'Go on', '--no-stdin'])
  const [first] = (await once(child.stdout, 'data')) as [Buffer]
  assert.is(first.toString(), 'So far')
  child.kill('SIGINT')
  const [code] = (await once(child, 'exit')) as [number]
  assert.is(code, 130)
  await (await arrival).closed // the daemon has closed the connection to the model
  const id = await newest()
  const { messages } = await terminal.json<{ messages: { content: string; finish_reason?: string }[] }>(['conversations', 'show', id])
  assert.equal([messages.at(-1)?.content, messages.at(-1)?.finish_reason], ['So far', 'aborted'])
})

test('Ctrl+C before the first word does not claim that a partial reply is kept', async () => {
  provider.script = [hang]
  const arrival = provider.nextRequest()
  const child = terminal.start(['ask', 'Go on', '--no-stdin'])
  const stderr = text(child.stderr)
  const { closed } = await arrival
  child.kill('SIGINT')
  assert.is(await stderr, 'Aborted.\n')
  await closed
})

test('a closed stdout pipe ends ask without an error', async () => {
  provider.script = [streamReply({ text: Array(50).fill('word ') }, 20)]
  const child = terminal.start(['ask', 'Talk', '--no-stdin'])
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const [code] = (await once(child, 'close')) as [number]
  assert.equal([code, stderr], [0, ''])
})

test.run()
