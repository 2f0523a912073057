/** The chat while the daemon is killed, stopped and restarted. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { stallAfter, streamReply, streamText } from '../harness/scripted-provider.ts'
import { hasTmux } from '../harness/tmux-terminal.ts'

const test = suite('chat without a daemon')
/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip
let fixture: ChatFixture

test.before(
  reportFailure(async () => {
    fixture = await ChatFixture.open()
    await fixture.createAgent('Guide')
  }),
)
test.after(reportFailure(() => fixture.close()))

const ENTER = '\r'
/** The test restarts the daemon itself. */
const NO_START = ['--no-start']

atTerminal('after the daemon is killed during a reply, its text stays, it is marked as interrupted, and a retry works', async () => {
  fixture.script(stallAfter('The beginning of', ' an answer'))
  const terminal = fixture.openChat({ agent: 'Guide', arguments: NO_START })
  await terminal.waitFor(/Ask Guide/)
  terminal.write(`Tell me${ENTER}`)
  await terminal.waitFor(/an answer/)
  await fixture.kill()
  await terminal.waitFor(/The daemon is not running\.|The connection to the daemon was lost\.|Cannot connect|does not respond/)
  terminal.write('typed meanwhile')
  await terminal.waitFor(/› typed meanwhile/)
  await fixture.restart()
  await terminal.waitFor(/› Tell me\n\n {2}The beginning of an answer\n\n {2}✗ The daemon stopped before the reply was complete/)
  await terminal.waitFor(/› typed meanwhile\n/)
  fixture.script(streamText('The whole answer.'))
  terminal.write('\u001b')
  await terminal.waitFor(/› Ask Guide/)
  terminal.write('/retry\r')
  await terminal.waitFor(/The whole answer\.\n/)
  await terminal.waitFor(
    (screen) => /› Ask Guide\n/.test(screen) && !/not running|Cannot connect|does not respond/.test(screen),
    'no connection problem',
  )
})

atTerminal('a message sent without a daemon is sent once after a restart', async () => {
  fixture.script(streamText('Here I am.'))
  const terminal = fixture.openChat({ agent: 'Guide', arguments: NO_START })
  await terminal.waitFor(/Ask Guide/)
  await fixture.kill()
  terminal.write(`Are you there?${ENTER}`)
  await terminal.waitFor(/› Are you there\?\n\n {2}\S .*(not running|Cannot connect|was lost|does not respond)/)
  await fixture.restart()
  await terminal.waitFor(/Here I am\./)
  const [conversation] = await fixture.get('/conversations?sort=updated_at')
  const { messages } = await fixture.get(`/conversations/${conversation.id}`)
  assert.equal(
    messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`),
    ['user: Are you there?', 'assistant: Here I am.'],
  )
})

atTerminal('a reply is marked as interrupted when the daemon stops', async () => {
  fixture.script(stallAfter('Half an'))
  const terminal = fixture.openChat({ agent: 'Guide', arguments: NO_START })
  await terminal.waitFor(/Ask Guide/)
  terminal.write(`Go${ENTER}`)
  await terminal.waitFor(/Half an/)
  await fixture.daemon.stop()
  await terminal.waitFor(/Half an\n\n {2}✗ The daemon stopped before the reply was complete/)
  await fixture.restart()
})

atTerminal('500 deltas and keys typed meanwhile all arrive', async () => {
  const words = Array.from({ length: 500 }, (_, index) => `w${index} `)
  fixture.script(streamReply({ text: words }))
  const terminal = fixture.openChat({ agent: 'Guide', arguments: NO_START })
  await terminal.waitFor(/Ask Guide/)
  terminal.write(`Flood${ENTER}`)
  await terminal.waitFor(/w\d+/)
  for (const letter of 'while it writes') terminal.write(letter)
  await terminal.waitFor(/› while it writes/)
  await terminal.waitFor(/w499/)
  await terminal.waitFor(() => new Set(terminal.readAll().match(/\bw\d+\b/g)).size === words.length, 'every word')
})

test.run()
