/** The chat when the daemon goes: killed in the middle of a reply, while somebody types, before a message is sent, and stopped in good order. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Stage } from '../harness/chat-fixture.ts'
import { hasTmux, until } from '../harness/chat-terminal.ts'
import { aloud } from '../harness/hooks.ts'
import { stallAfter, streamReply, streamText } from '../harness/scripted-provider.ts'

const test = suite(`chat in trouble ${hasTmux ? 'in tmux' : 'on an emulated terminal: there is no tmux here'}`)
let stage: Stage

test.before(
  aloud(async () => {
    stage = await Stage.open()
    await stage.agent('Guide')
  }),
)
test.after(aloud(() => stage.close()))

const ENTER = '\r'
/** The chat must not start a daemon of its own: the test does. */
const WAITS = ['--no-start']

test('killed in the middle of a reply: what came stays, it is told as interrupted, and trying again works', async () => {
  stage.script(stallAfter('The beginning of', ' an answer'))
  const terminal = stage.chat({ agent: 'Guide', more: WAITS })
  await until(terminal, /Ask Guide/)
  terminal.press(`Tell me${ENTER}`)
  await until(terminal, /an answer/)
  await stage.kill()
  await until(terminal, /The daemon is not running\.|The connection to the daemon was cut\.|Nothing answers/)
  terminal.press('typed meanwhile')
  await until(terminal, /› typed meanwhile/)
  await stage.restart()
  await until(terminal, /› Tell me\n\n {2}The beginning of an answer\n\n {2}✗ The daemon ended before the reply did/)
  await until(terminal, /› typed meanwhile\n/)
  stage.script(streamText('The whole answer.'))
  terminal.press('\u0012')
  await until(terminal, /The whole answer\.\n/)
  await until(
    terminal,
    (screen) => /› typed meanwhile\n/.test(screen) && !/not running|Nothing answers/.test(screen),
    'no trouble any more',
  )
})

test('gone before a message is sent: it waits, and goes out once when the daemon is back', async () => {
  stage.script(streamText('Here I am.'))
  const terminal = stage.chat({ agent: 'Guide', more: WAITS })
  await until(terminal, /Ask Guide/)
  await stage.kill()
  terminal.press(`Are you there?${ENTER}`)
  await until(terminal, /› Are you there\?\n\n {2}\S .*(not running|Nothing answers|was cut)/)
  await stage.restart()
  await until(terminal, /Here I am\./)
  const [conversation] = await stage.get('/conversations?sort=updated_at')
  const { messages } = await stage.get(`/conversations/${conversation.id}`)
  assert.equal(
    messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`),
    ['user: Are you there?', 'assistant: Here I am.'],
  )
})

test('stopped in good order: the reply says that it was interrupted', async () => {
  stage.script(stallAfter('Half an'))
  const terminal = stage.chat({ agent: 'Guide', more: WAITS })
  await until(terminal, /Ask Guide/)
  terminal.press(`Go${ENTER}`)
  await until(terminal, /Half an/)
  await stage.daemon.stop()
  await until(terminal, /Half an\n\n {2}✗ The daemon ended before the reply did/)
  await stage.restart()
})

test('many short replies and many keys at once: all of them arrive', async () => {
  const words = Array.from({ length: 2000 }, (_, index) => `w${index} `)
  stage.script(streamReply({ text: words }))
  const terminal = stage.chat({ agent: 'Guide', more: WAITS })
  await until(terminal, /Ask Guide/)
  terminal.press(`Flood${ENTER}`)
  await until(terminal, /w\d+/)
  for (const letter of 'while it writes') terminal.press(letter)
  await until(terminal, /› while it writes/)
  await until(terminal, /w1999/)
  await until(terminal, () => new Set(terminal.all().match(/\bw\d+\b/g)).size === words.length, 'every word')
})

test.run()
