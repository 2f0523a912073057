/** The chat is stopped and continued, in a terminal with a real daemon. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { streamText } from '../harness/scripted-provider.ts'
import { hasTmux } from '../harness/tmux-terminal.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('suspending the chat')
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

const [ENTER, CTRL_Z] = ['\r', '\u001a']
/** Is turned on when the chat starts to listen. */
const BRACKETED_PASTE = '\u001b[?2004h'

atTerminal('Ctrl+Z suspends the chat and fg resumes it', async () => {
  fixture.script(streamText('Still here.'))
  const { terminal, cadre } = fixture.openShell()
  await terminal.waitFor(/^\$/m)
  terminal.type(`${cadre} chat Guide`)
  await terminal.waitFor(/Ask Guide/)
  terminal.write('half a quest')
  await terminal.waitFor(/› half a quest/)
  terminal.write(CTRL_Z)
  await terminal.waitFor(/Stopped[\s\S]*\n\$ *$/)
  terminal.type('echo "in the $((40 + 2)) shell"')
  await terminal.waitFor(/in the 42 shell/)
  terminal.type('fg')
  await terminal.waitFor(/in the 42 shell[\s\S]*\n› half a quest\n {2}Guide/)
  terminal.write(`ion${ENTER}`)
  const screen = await terminal.waitFor(/› half a question\n\n {2}Still here\.[\s\S]*› Ask Guide/)
  assert.is(screen.match(/─{20,}/g)?.length, 1, screen)
  terminal.type('quit')
  await terminal.waitFor(/To continue: cadre chat/)
})

atTerminal('a chat that a signal stops and continues keeps what is on the screen', async () => {
  fixture.script(streamText('Before it.'), streamText('After it.'))
  const { terminal, cadre } = fixture.openShell()
  await terminal.waitFor(/^\$/m)
  terminal.type(`sh -c 'echo $$ > chat.pid; exec "$@"' sh ${cadre} chat Guide`)
  await terminal.waitFor(/Ask Guide/)
  terminal.write(`Hello${ENTER}`)
  await terminal.waitFor(/› Hello\n\n {2}Before it\.[\s\S]*tokens/)
  const chat = Number(readFileSync(join(fixture.home, 'chat.pid'), 'utf8'))
  terminal.write('half a quest')
  await terminal.waitFor(/› half a quest/)
  const output = join(fixture.home, 'output')
  terminal.record(output)
  process.kill(chat, 'SIGCONT')
  // Until the chat listens again, the terminal itself echoes what is typed, which looks the same.
  await waitFor(() => readFileSync(output, 'utf8').includes(BRACKETED_PASTE))
  terminal.write('io')
  await terminal.waitFor(/› Hello\n\n {2}Before it\.\n\n─+\n› half a questio\n {2}Guide/)
  process.kill(chat, 'SIGSTOP')
  await terminal.waitFor(/Stopped[\s\S]*\n\$ *$/)
  terminal.type('fg')
  await terminal.waitFor(/› Hello\n\n {2}Before it\.\n[\s\S]*Stopped[\s\S]*\n─+\n› half a questio\n {2}Guide/)
  terminal.write(`n${ENTER}`)
  await terminal.waitFor(/Before it\.\n[\s\S]*\n› half a question\n\n {2}After it\.[\s\S]*› Ask Guide/)
})

atTerminal('a paste during which the chat is stopped and continued is not sent line by line', async () => {
  const { terminal, cadre } = fixture.openShell()
  await terminal.waitFor(/^\$/m)
  terminal.type(`sh -c 'echo $$ > chat.pid; exec "$@"' sh ${cadre} chat Guide`)
  await terminal.waitFor(/Ask Guide/)
  const output = join(fixture.home, 'output')
  terminal.record(output)
  terminal.write('\u001b[200~first\r')
  process.kill(Number(readFileSync(join(fixture.home, 'chat.pid'), 'utf8')), 'SIGCONT')
  await waitFor(() => readFileSync(output, 'utf8').includes(BRACKETED_PASTE))
  terminal.write('second\r\u001b[201~')
  await terminal.waitFor(/─+\n› first\n {2}second\n/)
})

test.run()
