/** The chat when the daemon goes: killed in the middle of a reply, while somebody types, before a message is sent, and stopped in good order. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { hasTmux, waitForScreen } from '../harness/chat-terminal.ts'
import { aloud } from '../harness/hooks.ts'
import { stallAfter, streamReply, streamText } from '../harness/scripted-provider.ts'

const test = suite(`chat in trouble ${hasTmux ? 'in tmux' : 'on an emulated terminal: there is no tmux here'}`)
let stage: ChatFixture

test.before(
  aloud(async () => {
    stage = await ChatFixture.open()
    await stage.createAgent('Guide')
  }),
)
test.after(aloud(() => stage.close()))

const ENTER = '\r'
/** The chat must not start a daemon of its own: the test does. */
const WAITS = ['--no-start']

test('killed in the middle of a reply: what came stays, it is told as interrupted, and trying again works', async () => {
  stage.script(stallAfter('The beginning of', ' an answer'))
  const terminal = stage.openChat({ agent: 'Guide', arguments: WAITS })
  await waitForScreen(terminal, /Ask Guide/)
  terminal.press(`Tell me${ENTER}`)
  await waitForScreen(terminal, /an answer/)
  await stage.kill()
  await waitForScreen(terminal, /The daemon is not running\.|The connection to the daemon was cut\.|Nothing answers/)
  terminal.press('typed meanwhile')
  await waitForScreen(terminal, /› typed meanwhile/)
  await stage.restart()
  await waitForScreen(terminal, /› Tell me\n\n {2}The beginning of an answer\n\n {2}✗ The daemon stopped before the reply was complete/)
  await waitForScreen(terminal, /› typed meanwhile\n/)
  stage.script(streamText('The whole answer.'))
  terminal.press('\u0012')
  await waitForScreen(terminal, /The whole answer\.\n/)
  await waitForScreen(
    terminal,
    (screen) => /› typed meanwhile\n/.test(screen) && !/not running|Nothing answers/.test(screen),
    'no trouble any more',
  )
})

test('gone before a message is sent: it waits, and goes out once when the daemon is back', async () => {
  stage.script(streamText('Here I am.'))
  const terminal = stage.openChat({ agent: 'Guide', arguments: WAITS })
  await waitForScreen(terminal, /Ask Guide/)
  await stage.kill()
  terminal.press(`Are you there?${ENTER}`)
  await waitForScreen(terminal, /› Are you there\?\n\n {2}\S .*(not running|Nothing answers|was cut)/)
  await stage.restart()
  await waitForScreen(terminal, /Here I am\./)
  const [conversation] = await stage.get('/conversations?sort=updated_at')
  const { messages } = await stage.get(`/conversations/${conversation.id}`)
  assert.equal(
    messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`),
    ['user: Are you there?', 'assistant: Here I am.'],
  )
})

test('stopped in good order: the reply says that it was interrupted', async () => {
  stage.script(stallAfter('Half an'))
  const terminal = stage.openChat({ agent: 'Guide', arguments: WAITS })
  await waitForScreen(terminal, /Ask Guide/)
  terminal.press(`Go${ENTER}`)
  await waitForScreen(terminal, /Half an/)
  await stage.daemon.stop()
  await waitForScreen(terminal, /Half an\n\n {2}✗ The daemon stopped before the reply was complete/)
  await stage.restart()
})

test('many short replies and many keys at once: all of them arrive', async () => {
  const words = Array.from({ length: 2000 }, (_, index) => `w${index} `)
  stage.script(streamReply({ text: words }))
  const terminal = stage.openChat({ agent: 'Guide', arguments: WAITS })
  await waitForScreen(terminal, /Ask Guide/)
  terminal.press(`Flood${ENTER}`)
  await waitForScreen(terminal, /w\d+/)
  for (const letter of 'while it writes') terminal.press(letter)
  await waitForScreen(terminal, /› while it writes/)
  await waitForScreen(terminal, /w1999/)
  await waitForScreen(terminal, () => new Set(terminal.all().match(/\bw\d+\b/g)).size === words.length, 'every word')
})

test.run()
