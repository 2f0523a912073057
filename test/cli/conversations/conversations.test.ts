/** Tests of the `conversations` commands: citations, tool calls, following and exporting. */
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { ScriptedProvider, stallAfter, streamReply, streamText } from '../../harness/scripted-provider.ts'

const LEAVE = 'Every employee gets twenty-five days of paid annual leave.'

const test = suite('conversations at the terminal')
let terminal: Terminal
let provider: ScriptedProvider
let bank: Server
const paid: string[] = []

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    provider = await ScriptedProvider.start('openai', streamText('Hello.'))
    bank = createServer((request, response) => {
      paid.push(request.url ?? '')
      response.setHeader('content-type', 'application/json').end('{"paid":true}')
    })
    await new Promise<void>((resolve) => bank.listen(0, '127.0.0.1', resolve))
    const handbook = join(terminal.home, '..', 'handbook')
    mkdirSync(handbook)
    writeFileSync(join(handbook, 'leave.md'), `# Leave\n\n${LEAVE}\n`)
    await terminal.run(['knowledge', 'add', handbook, '--quiet'])
    await terminal.request('POST', '/models', { name: 'scripted', ...provider.model })
    const url = `http://127.0.0.1:${(bank.address() as AddressInfo).port}/pay`
    const parameters = { type: 'object', properties: { amount: { type: 'number' } } }
    const pay = { name: 'pay', description: 'Pays.', method: 'GET', url, parameters }
    await terminal.request('POST', '/api-tools', { ...pay, requires_confirmation: true, allow_private_network: true })
    await terminal.json(['agents', 'create', '--name', 'Helper', '--model', 'scripted', '--tool', 'handbook,pay'])
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await provider.close()
    bank.closeAllConnections()
    bank.close()
  }),
)

/** Names of the tools in the last request to the model. */
const toolNames = (): string[] =>
  (provider.received.at(-1)?.body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name)
const findToolName = (part: string): string => toolNames().find((name) => name.includes(part)) ?? part

test('ask prints tool calls on stderr and the cited passages on stdout after the reply', async () => {
  provider.script = [
    streamReply(() => ({ calls: [{ name: findToolName('handbook'), arguments: { query: 'annual leave' } }] })),
    streamText('Twenty-five days [1].'),
  ]
  const { code, stdout, stderr } = await terminal.run(['ask', 'How many days of leave do I have?'])
  assert.is(code, 0, stderr)
  assert.match(stderr, /Calling \w*handbook\w* \(query: "annual leave"\)\n\w*handbook\w*: 1 passage, \d+ ms\n$/)
  const [answer, empty, first, passage] = stdout.split('\n')
  assert.equal([answer, empty, first, passage?.trim()], ['Twenty-five days [1].', '', '[1] leave.md · Leave', LEAVE])
  const bare = await terminal.run(['ask', '-q', '--no-citations', 'How many?'])
  assert.equal([bare.stdout, bare.stderr], ['Twenty-five days [1].\n', ''])
})

test('a tool call that needs confirmation is refused without a terminal', async () => {
  provider.script = [streamReply(() => ({ calls: [{ name: findToolName('pay'), arguments: { amount: 12 } }] })), streamText('Not paid.')]
  const { code, stdout, stderr } = await terminal.run(['ask', 'Pay 12'])
  assert.equal([code, stdout, paid], [0, 'Not paid.\n', []])
  assert.match(stderr, 'needs confirmation, but there is no terminal: refused. To allow it, use --allow-tools.')
  assert.match(stderr, /pay was refused/)
})

test('--allow-tools confirms tool calls without a prompt', async () => {
  provider.script = [streamReply(() => ({ calls: [{ name: findToolName('pay'), arguments: { amount: 12 } }] })), streamText('Paid.')]
  const { code, stdout, stderr } = await terminal.run(['ask', 'Pay 12', '--allow-tools'])
  assert.equal([code, stdout, paid], [0, 'Paid.\n', ['/pay?amount=12']], stderr)
})

test('without a terminal, nothing that a document asks to remember is stored, also with --allow-tools', async () => {
  await terminal.run(['agents', 'update', 'Helper', '--memory'])
  const remember = (content: string) => streamReply({ calls: [{ name: 'remember', arguments: { content } }] })
  const read = streamReply(() => ({ calls: [{ name: findToolName('handbook'), arguments: { query: 'leave' } }] }))
  provider.script = [read, remember('Leave is 25 days'), remember('The PIN is 1234'), streamText('Read.')]
  const { code, stderr } = await terminal.run(['ask', 'What about leave?', '--allow-tools'])
  assert.is(code, 0)
  assert.match(stderr, /A document .* asked for this\.\nremember needs confirmation, .* refused\. To decide, ask at a terminal\.\n/)
  assert.match(stderr, /remember failed: This looks like a key, a token or a password/)
  assert.equal((await terminal.request('GET', '/memories')).data, [])
  provider.script = [remember('The user likes tea'), streamText('Noted.')]
  const said = await terminal.run(['ask', 'I like tea'])
  const [, undo = ''] = /Remembered: The user likes tea\nTo undo: cadre (memory delete mem_\S+)\n/.exec(said.stderr) ?? []
  await terminal.run([...undo.split(' '), '--yes'])
  assert.equal((await terminal.request('GET', '/memories')).data, [])
  await terminal.run(['agents', 'update', 'Helper', '--no-memory'])
})

test('without a stream, a call that needs confirmation is returned at once, and the rest of the reply after the decision', async () => {
  provider.script = [streamReply({ calls: [{ id: 'call_9', name: 'pay', arguments: { amount: 13 } }] }), streamText('Paid later.')]
  const [agent] = await terminal.json<{ id: string }[]>(['agents', 'list'])
  const { data } = await terminal.request('POST', '/conversations', { agent_id: agent?.id })
  const path = `/conversations/${data.id}/messages`
  type Reply = { data: { id: string; content: string; finish_reason?: string; tool_calls: { id: string; confirmation: string }[] } }
  const { data: reply } = await terminal.json<Reply>(['api', 'POST', path, '-f', 'message=Pay 13', '-F', 'stream=false'])
  assert.equal([reply.finish_reason, reply.tool_calls.map(({ confirmation }) => confirmation)], [undefined, ['pending']])
  assert.not.ok(paid.includes('/pay?amount=13'))
  const decision = ['-f', `tool_call_id=${reply.tool_calls[0]?.id}`, '-F', 'allow=true']
  await terminal.json(['api', 'POST', `${path}/${reply.id}/confirmations`, ...decision])
  const rest = await terminal.json<Reply>(['api', 'POST', path, '-F', 'retry=true', '-F', 'stream=false'])
  assert.equal([rest.data.content, paid.at(-1)], ['Paid later.', '/pay?amount=13'])
})

test('show prints the speakers, tool calls, text and citations of a conversation', async () => {
  const { stdout } = await terminal.run(['conversations', 'show', 'How many days of leave do I have?'])
  assert.match(stdout, /^How many days of leave do I have\?\nHelper · \d{4}-\d\d-\d\d \d\d:\d\d · active\nconv_[0-9a-f-]+\n\nYou \d{4}/)
  assert.match(stdout, /\n\nHelper \d{4}-\d\d-\d\d \d\d:\d\d\nCalled \w*handbook\w* \(query: "annual leave"\)\nTwenty-five days \[1\]\./)
  assert.match(stdout, '\nTwenty-five days [1].\n\n[1] leave.md · Leave\n')
  assert.match((await terminal.run(['conversations', 'show', 'Pay 12', '--no-citations'])).stderr, '2 conversations are named "Pay 12"')
})

test('a citation of a changed document is marked as changed', async () => {
  writeFileSync(join(terminal.home, '..', 'handbook', 'leave.md'), '# Leave\n\nThirty days.\n')
  await terminal.run(['knowledge', 'sync', 'handbook', '--quiet'])
  const { stdout } = await terminal.run(['conversations', 'show', 'How many days of leave do I have?'])
  assert.match(stdout, 'The document was changed or deleted after it was read.')
  const { stdout: markdown } = await terminal.run(['conversations', 'export', 'How many days of leave do I have?'])
  assert.match(markdown, '[1] leave.md, changed since')
})

test('show prints an unfinished reply as far as it is written, and --follow streams the rest', async () => {
  let finishReply = () => {}
  provider.script = [
    async (response, received, wire) => {
      await stallAfter('So far')(response, received, wire)
      await new Promise<void>((resolve) => {
        finishReply = resolve
      })
      response.end('data: {"choices":[{"index":0,"delta":{"content":" and on."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    },
  ]
  const asking = terminal.start(['ask', 'Slowly', '--no-stdin'])
  await once(asking.stdout, 'data')
  const shown = await terminal.run(['conversations', 'show', 'Slowly'])
  assert.match(shown.stdout, /Helper .*\nSo far\n$/)
  assert.match(shown.stderr, 'use --follow to stream the rest')
  const following = terminal.start(['conversations', 'show', 'Slowly', '--follow'])
  let text = ''
  const seen = new Promise<void>((resolve) => {
    following.stdout.on('data', (piece) => {
      text += piece
      if (text.includes('So far')) resolve()
    })
  })
  await seen
  finishReply()
  const [[code], [followed]] = await Promise.all([once(asking, 'close'), once(following, 'close')])
  assert.equal([code, followed], [0, 0])
  assert.match(text, /Helper .*\nSo far and on\.\n$/)
})

test('export writes HTML for --html, --format html and files named .html', async () => {
  const exportAs = (...words: string[]) => terminal.run(['conversations', 'export', 'Slowly', ...words])
  const file = join(terminal.home, '..', 'slowly.html')
  assert.is((await exportAs('--html', file)).stderr, `Wrote ${file}.\n`)
  assert.match(readFileSync(file, 'utf8'), /^<!doctype html>[\s\S]*<h1 dir="auto">Slowly<\/h1>[\s\S]*<p dir="auto">So far and on\.<\/p>/)
  assert.is((await exportAs('--html', file)).code, 2)
  assert.is((await exportAs('--html', file, '--force')).code, 0)
  assert.match((await exportAs('--format', 'html')).stdout, /^<!doctype html>/)
  const other = file.replace('slowly', 'other')
  await exportAs('--to', other)
  assert.match(readFileSync(other, 'utf8'), /^<!doctype html>/)
  assert.is((await exportAs('--html', other, '--json')).code, 2)
})

test('export writes Markdown or JSON and overwrites a file only with --force', async () => {
  const file = join(terminal.home, '..', 'slowly.md')
  const { stderr } = await terminal.run(['conversations', 'export', 'Slowly', '--to', file])
  assert.is(stderr, `Wrote ${file}.\n`)
  assert.match(
    readFileSync(file, 'utf8'),
    /^# Slowly\n\n- Agent: Helper\n[\s\S]*\n## You, .* UTC\n\nSlowly\n\n## Helper, .* UTC\n\nSo far and on\.\n$/,
  )
  const again = await terminal.run(['conversations', 'export', 'Slowly', '--to', file])
  assert.is(again.code, 2)
  assert.match(again.stderr, '--force')
  assert.is((await terminal.run(['conversations', 'export', 'Slowly', '--to', file, '--force'])).code, 0)
  const json = file.replace('.md', '.json')
  await terminal.run(['conversations', 'export', 'Slowly', '--to', json])
  const exported = JSON.parse(readFileSync(json, 'utf8')) as { messages: { content: string }[] }
  assert.is(exported.messages.at(-1)?.content, 'So far and on.')
  assert.equal(await terminal.json(['conversations', 'export', 'Slowly']), exported)
})

test('delete removes a conversation', async () => {
  assert.is((await terminal.run(['conversations', 'delete', 'Slowly', '--yes'])).code, 0)
  assert.is((await terminal.run(['conversations', 'show', 'Slowly'])).code, 3)
})

test.run()
