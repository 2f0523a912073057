/** The chat line by line, with a real daemon. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { stallAfter, streamText } from '../harness/scripted-provider.ts'
import { hasTmux } from '../harness/tmux-terminal.ts'

const test = suite('plain chat')
/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip
let fixture: ChatFixture

test.before(
  reportFailure(async () => {
    fixture = await ChatFixture.open()
    for (const [name, pricing] of [['Guide'], ['Free', { input: 0, output: 0 }]] as const) {
      const model = await fixture.create('/models', { ...fixture.provider.model, name: `${name} model`, ...(pricing && { pricing }) })
      await fixture.create('/agents', { name, model_id: model.id })
    }
  }),
)
test.after(reportFailure(() => fixture.close()))

const [ENTER, CTRL_C] = ['\r', '\u0003']

/** In a shell with job control, Ctrl+C reaches only the chat. */
async function openInShell(variables: string, flags: string) {
  const { terminal, cadre } = fixture.openShell()
  terminal.type(`${variables} ${cadre} chat Guide ${flags}; echo "exit $?"`)
  await terminal.waitFor(/Type a message/)
  return terminal
}

atTerminal('Ctrl+C stops the reply; without a reply, the second one quits and says how to continue', async () => {
  fixture.script(stallAfter('One sentence. The', ' second'), streamText('Still here.'))
  const terminal = await openInShell('TERM=dumb', '')
  terminal.write(`Go on${ENTER}`)
  await terminal.waitFor(/^ {2}One sentence\.$/m)
  terminal.write(CTRL_C)
  await terminal.waitFor(/One sentence\.\^C\n The second\n\n {2}■ stopped/)
  terminal.write(`Hello${ENTER}`)
  await terminal.waitFor(/Still here\./)
  terminal.write(CTRL_C)
  await terminal.waitFor(/\^C\nPress Ctrl\+C again to quit\./)
  terminal.write(`/title Kept${ENTER}`)
  await terminal.waitFor(/Renamed the conversation to "Kept"\./)
  terminal.write(CTRL_C)
  await terminal.waitFor(/Kept[\s\S]*Press Ctrl\+C again to quit\./)
  terminal.write(CTRL_C)
  await terminal.waitFor(/To continue:\s+cadre chat --conversation\s+conv_\S+\nexit 0/)
})

atTerminal('after a stopped reply, the next Ctrl+C says that another one quits', async () => {
  fixture.script(stallAfter('One sentence. The', ' second'))
  const terminal = await openInShell('', '--plain')
  terminal.write(`Go on${ENTER}`)
  await terminal.waitFor(/One sentence\./)
  terminal.write(CTRL_C)
  await terminal.waitFor(/■ stopped/)
  terminal.write(CTRL_C)
  await terminal.waitFor(/■ stopped[\s\S]*Press Ctrl\+C again to quit\./)
  terminal.write(CTRL_C)
  await terminal.waitFor(/To continue:\s+cadre chat --plain --conversation\s+conv_\S+\nexit 0/)
})

test('/usage does not report a cost of 0 for models without a price, and counts no indexing', async () => {
  fixture.script(streamText('Said.'))
  await fixture.run(['chat', 'Free', '--plain'], { input: 'Hello\n' })
  const { stdout } = await fixture.run(['chat', 'Guide', '--plain'], { input: 'Hello\n/usage\n/edit\n' })
  assert.match(
    stdout,
    /Replies of this conversation: 17 tokens, cost unknown\.\n {2}All agents today \(UTC\): .*tokens, cost unknown\.\n.*indexing/,
  )
  assert.match(stdout, 'The plain chat has no /edit. To list commands: /help')
})

test.run()
