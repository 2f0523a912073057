/** The chat in a terminal against the real daemon: typing, streaming, tools, stopping, resuming, other sizes. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stringWidth } from '../../src/cli/terminal/text.ts'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { hasTmux, runCadre, waitForScreen } from '../harness/chat-terminal.ts'
import { aloud } from '../harness/hooks.ts'
import { respondWithError, stallAfter, streamReply, streamText } from '../harness/scripted-provider.ts'

const test = suite(`chat ${hasTmux ? 'in tmux' : 'on an emulated terminal: there is no tmux here'}`)
let stage: ChatFixture
let api: Server
const calls: string[] = []

test.before(
  aloud(async () => {
    stage = await ChatFixture.open()
    await stage.createAgent('Guide')
    api = createServer((request, response) => {
      calls.push(`${request.method} ${request.url}`)
      response.setHeader('content-type', 'application/json').end('{"deleted":true}')
    })
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/users/{id}`
    const tool = await stage.create('/api-tools', {
      name: 'delete_user',
      description: 'Deletes a user',
      method: 'DELETE',
      url,
      parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      allow_private_network: true,
      requires_confirmation: true,
    })
    await stage.createAgent('Janitor', { tools: [tool.id] })
  }),
)
test.after(
  aloud(async () => {
    await stage.close()
    await new Promise((resolve) => api.close(resolve))
  }),
)

const ENTER = '\r'
const ESCAPE = '\u001b'

test('a message is typed, its reply streams in as Markdown, and the status counts', async () => {
  stage.script(
    streamReply({ text: ['You have **25', ' days** of leave.\n\n- paid', '\n- a year\n\n```js\nconst days', ' = 25\n```\n'] }, 5),
  )
  const terminal = stage.openChat({ agent: 'Guide' })
  await waitForScreen(terminal, /Ask Guide/)
  await waitForScreen(terminal, /Guide · Guide model · \/help/)
  terminal.press(`How many days?${ENTER}`)
  await waitForScreen(
    terminal,
    /› How many days\?\n\n {2}You have 25 days of leave\.\n\n {2}• paid\n {2}• a year\n\n {4}const days = 25\n\n─+\n› Ask Guide\n/,
  )
  await waitForScreen(terminal, /tokens · cost/)
})

test('what is typed stands in its columns, over several lines, with wide characters', async () => {
  const terminal = stage.openChat({ agent: 'Guide' })
  await waitForScreen(terminal, /Ask Guide/)
  terminal.press('日本👩‍👩‍👧 x')
  await waitForScreen(terminal, /› 日本👩‍👩‍👧 x/)
  const at = 2 + stringWidth('日本👩‍👩‍👧 x')
  await waitForScreen(terminal, () => terminal.cursor().x === at, `a cursor in column ${at}`)
  terminal.press(`${ESCAPE}\rsecond line`)
  await waitForScreen(terminal, /x\n {2}second line\n/)
  terminal.press(`\u001b[200~pasted\rwith Enter\u001b[201~`)
  await waitForScreen(terminal, /second linepasted\n {2}with Enter\n {2}Guide · .*\/help/)
})

test('Escape stops the reply, and what was written stays', async () => {
  stage.script(stallAfter('This is the beginning', ' of a long'))
  const terminal = stage.openChat({ agent: 'Guide' })
  await waitForScreen(terminal, /Ask Guide/)
  terminal.press(`Go on${ENTER}`)
  await waitForScreen(terminal, /of a long/)
  const asked = stage.provider.received.at(-1)
  terminal.press(ESCAPE)
  await waitForScreen(terminal, /This is the beginning of a long\n\n {2}■ stopped/)
  await asked?.closed
  const [conversation] = await stage.get('/conversations?sort=updated_at')
  const { messages } = await stage.get(`/conversations/${conversation.id}`)
  assert.equal([messages.at(-1).content, messages.at(-1).finish_reason], ['This is the beginning of a long', 'aborted'])
})

test('a tool that asks first is shown, refused with n and allowed with y', async () => {
  const wants = streamReply({ calls: [{ id: 'call_1', name: 'delete_user', arguments: { id: '42' } }] })
  stage.script(wants, streamText('As you wish.'), wants, streamText('It is done.'))
  const terminal = stage.openChat({ agent: 'Janitor' })
  await waitForScreen(terminal, /Ask Janitor/)
  terminal.press(`Delete user 42${ENTER}`)
  await waitForScreen(terminal, /delete_user wants to run with id: 42\n {4}Allow it\? y yes · n no/)
  terminal.press('n')
  await waitForScreen(terminal, /– delete_user id: 42 · refused/)
  await waitForScreen(terminal, /As you wish\.[\s\S]*tokens/)
  assert.equal(calls, [])
  terminal.press(`Do it${ENTER}`)
  await waitForScreen(terminal, /Allow it\? y yes/)
  terminal.press('y')
  await waitForScreen(terminal, /It is done\./)
  await waitForScreen(terminal, /✓ delete_user id: 42 · \d\.\d s\n {4}→ .*deleted/)
  assert.equal(calls, ['DELETE /users/42'])
})

test('an error of the provider is shown once, and Ctrl+R tries again', async () => {
  stage.script(respondWithError(401), streamText('Now it works.'))
  const terminal = stage.openChat({ agent: 'Guide' })
  await waitForScreen(terminal, /Ask Guide/)
  terminal.press(`Hello${ENTER}`)
  await waitForScreen(terminal, (screen) => /Ctrl\+R tries again/.test(screen) && screen.match(/✗/g)?.length === 1, 'one error')
  terminal.press('\u0012')
  await waitForScreen(terminal, /Now it works\./)
})

test('a conversation is found again: by --continue, and with /resume', async () => {
  stage.script(streamText('The first answer.'))
  const first = stage.openChat({ agent: 'Guide' })
  await waitForScreen(first, /Ask Guide/)
  first.press(`A question to find again${ENTER}`)
  await waitForScreen(first, /The first answer\./)
  first.press('\u0003\u0003')
  await waitForScreen(first, hasTmux ? /To go on: cadre chat --conversation conv_\S+\n(.*\n)*ended with 0/ : /ended with 0/)
  const again = stage.openChat({ arguments: ['--continue'] })
  await waitForScreen(again, /› A question to find again\n\n {2}The first answer\./)
  again.press(`/new${ENTER}`)
  await waitForScreen(again, /A new conversation begins\./)
  again.press(`/resume${ENTER}`)
  await waitForScreen(again, /Conversations.*Enter chooses/)
  again.press('find again')
  await waitForScreen(again, /Conversations {2}find again\n› A question to find again/)
  again.press(ENTER)
  await waitForScreen(
    again,
    (screen) => /^› A question to find again\n\n {2}The first answer\./m.test(screen) && !screen.includes('Conversations'),
    'the conversation',
  )
  again.press('\u001b[A')
  await waitForScreen(again, /› A question to find again\n {2}Guide/)
})

test('the window is narrowed to 40 columns and widened again', async () => {
  stage.script(streamText('A reply that is long enough to be broken over more than one line, whatever the width of it is.'))
  const terminal = stage.openChat({ agent: 'Guide' })
  await waitForScreen(terminal, /Ask Guide/)
  terminal.press(`Be long${ENTER}`)
  await waitForScreen(terminal, /tokens/)
  terminal.press('typed before')
  await waitForScreen(terminal, /› typed before/)
  terminal.resize(40, 16)
  await waitForScreen(
    terminal,
    (screen) =>
      /› Be long\n\n {2}A reply that is long enough to be\n {2}broken over more than one line,\n[^─]*─{40}\n› typed before\n {2}Guide/.test(
        screen,
      ) &&
      screen.split('\n').every((line) => stringWidth(line) <= 40) &&
      screen.match(/─{5,}/g)?.length === 1,
    'the reply in 40 columns, and nothing of the old drawing',
  )
  terminal.resize(100, 24)
  await waitForScreen(terminal, /A reply that is long enough to be broken over more than one line, whatever the width of it is\./)
  await waitForScreen(terminal, /─{100}\n› typed before/)
})

test('help fits a terminal of 24 rows', async () => {
  const terminal = stage.openChat({ agent: 'Janitor' })
  await waitForScreen(terminal, /Ask Janitor/)
  terminal.press(`/help${ENTER}`)
  await waitForScreen(terminal, /Conversation +│ +│ Who answers[\s\S]*\/quit[\s\S]*Ctrl\+C twice leaves\n\n─+\n› Ask Janitor/)
})

test('commands: help, tools, title, model, usage, export, clear, quit', async () => {
  stage.script(streamText('Said.'))
  const terminal = stage.openChat({ agent: 'Janitor', rows: 60 })
  await waitForScreen(terminal, /Ask Janitor/)
  terminal.press(`/help${ENTER}`)
  await waitForScreen(terminal, /\/title words +│ name the conversation/)
  terminal.press(`/tools${ENTER}`)
  await waitForScreen(terminal, /delete_user \(API, asks first\)/)
  terminal.press(`Hello${ENTER}`)
  await waitForScreen(terminal, /Said\.[\s\S]*tokens/)
  terminal.press(`/title Tidying up${ENTER}`)
  await waitForScreen(terminal, /It is called "Tidying up" now\./)
  terminal.press(`/usage${ENTER}`)
  await waitForScreen(terminal, /This conversation: 17 tokens, cost 0\.01/)
  terminal.press(`/model Guide model${ENTER}`)
  await waitForScreen(terminal, /Janitor · Guide model/)
  terminal.press(`/export${ENTER}`)
  await waitForScreen(terminal, /The conversation was written to tidying-up\.md/)
  terminal.press(`/clear${ENTER}`)
  await waitForScreen(terminal, (screen) => !screen.includes('Said.') && screen.includes('Ask Janitor'), 'an empty screen')
  terminal.press(`/quit${ENTER}`)
  await waitForScreen(terminal, /ended with 0/)
})

test('commands: agents, history, copy, agent, and their completion', async () => {
  stage.script(streamText('Said.'))
  const terminal = stage.openChat({ agent: 'Janitor', rows: 40 })
  await waitForScreen(terminal, /Ask Janitor/)
  terminal.press(`Hello${ENTER}`)
  await waitForScreen(terminal, /Said\.[\s\S]*tokens/)
  terminal.press(`/copy${ENTER}`)
  await waitForScreen(terminal, /The last reply is in the clipboard\./)
  terminal.press('/hi')
  await waitForScreen(terminal, /› \/hi\n› \/history +the whole conversation/)
  terminal.press(ENTER)
  await waitForScreen(terminal, /› Hello\n\n {2}Said\.\n\n─+\n› Ask Janitor/)
  terminal.press(`/agents${ENTER}`)
  await waitForScreen(terminal, /Agents.*Enter chooses.*\n› Guide\n {2}Janitor\n/)
  terminal.press(ESCAPE)
  await waitForScreen(terminal, /Ask Janitor/)
  terminal.press('/agent g')
  await waitForScreen(terminal, /› \/agent g\n› Guide\n/)
  terminal.press(`\t${ENTER}`)
  await waitForScreen(terminal, /Guide answers now, in a new conversation\.[\s\S]*Ask Guide\n {2}Guide · Guide model · \/help/)
})

test('without a terminal it says what to use, and --plain talks line by line', async () => {
  const refused = await runCadre(stage.home, ['chat', 'Guide'])
  assert.is(refused.code, 2)
  assert.match(refused.stderr, /needs a terminal.*\n.*cadre ask.*--plain/)
  stage.script(streamText('A **plain** answer.'), streamText('Another.'))
  const { code, stdout } = await runCadre(stage.home, ['chat', 'Guide', '--plain'], { input: 'Hello\n/title Plainly\nAgain\n' })
  assert.is(code, 0)
  assert.match(stdout, /› Hello\n\n {2}A plain answer\.\n\n {2}It is called "Plainly" now\.\n\n› Again\n\n {2}Another\./)
  assert.not.match(stdout, '\u001b')
})

test('without a name it is the agent that the settings name', async () => {
  assert.is((await runCadre(stage.home, ['config', 'set', 'agent', 'Janitor'])).code, 0)
  const { stdout } = await runCadre(stage.home, ['chat', '--plain'])
  await runCadre(stage.home, ['config', 'unset', 'agent'])
  assert.match(stdout, /^Janitor, Janitor model\./)
})

test('without a name, among several, Enter alone chooses whom one talked with last', async () => {
  const [janitor] = await stage.get('/agents?name=Janitor')
  const gone = await stage.create('/agents', { name: 'Gone' })
  for (const { id } of [janitor, gone]) await stage.create('/conversations', { agent_id: id })
  assert.is((await runCadre(stage.home, ['agents', 'delete', gone.id, '--yes', '--force'])).code, 0)
  const terminal = stage.openChat({})
  await waitForScreen(terminal, /Agents.*Enter chooses.*\n› Janitor\n {2}Guide\n/)
  terminal.press(ENTER)
  await waitForScreen(terminal, /Janitor answers now, in a new conversation\.[\s\S]*Ask Janitor/)
})

test('an agent or a conversation that is not there is an error of the command', async () => {
  const nobody = await runCadre(stage.home, ['chat', 'Nobody', '--plain'])
  assert.equal([nobody.code, /There is no agent "Nobody"/.test(nobody.stderr)], [3, true])
  const several = await runCadre(stage.home, ['chat', '--plain', '--conversation', 'conv_00000000-0000-7000-8000-000000000000'])
  assert.is(several.code, 3)
})

test.run()
