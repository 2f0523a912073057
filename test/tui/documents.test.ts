/** The chat over documents, with the embedded model: citations, the sources panel, /search, what a model might try, and a second chat on the same reply. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { hasTmux, runCadre, waitForScreen } from '../harness/chat-terminal.ts'
import { aloud } from '../harness/hooks.ts'
import { stallAfter, streamText } from '../harness/scripted-provider.ts'

const test = suite(`chat over documents ${hasTmux ? 'in tmux' : 'on an emulated terminal: there is no tmux here'}`)
let stage: ChatFixture

test.before(
  aloud(async () => {
    stage = await ChatFixture.open()
    const folder = join(stage.home, 'handbook')
    mkdirSync(folder)
    writeFileSync(join(folder, 'leave.md'), '# Leave\n\nEvery employee gets twenty-five days of paid annual leave.\n')
    writeFileSync(join(folder, 'travel.md'), '# Travel\n\nTrains are booked in second class, hotels up to 120 euros a night.\n')
    const { code, stderr } = await runCadre(stage.home, ['knowledge', 'add', folder])
    assert.is(code, 0, stderr)
    const [tool] = await stage.get('/rag-tools')
    await stage.create('/agents', { name: 'Handbook', tools: [tool.id] })
    await stage.createAgent('Slow')
  }),
)
test.after(aloud(() => stage.close()))

test('a reply cites what it stands on, and Ctrl+O shows the passage', async () => {
  const terminal = stage.openChat({ agent: 'Handbook', rows: 40 })
  await waitForScreen(terminal, /Ask Handbook/)
  terminal.press('How many days of annual leave do I get?\r')
  await waitForScreen(terminal, /twenty-five days of paid annual leave.*\[1\]\n\n {2}\[1\] leave\.md\n/)
  terminal.press('\u000f')
  await waitForScreen(
    terminal,
    /Sources.*\n› \[1\] leave\.md\n( {2}\[.*\n)*( {4}│.*\n)*? {4}│ .*Every employee gets twenty-five days of paid annual leave\./,
  )
  terminal.press('\u001b')
  await waitForScreen(terminal, (now) => !now.includes('│'), 'a closed panel')
  terminal.press('/search hotels\r')
  await waitForScreen(terminal, /Found for "hotels".*\n› \[1\] travel\.md\n/)
  terminal.press('\u001b')
  await waitForScreen(terminal, (now) => !now.includes('│'), 'a closed panel')
  terminal.press('/search zzz\r')
  await waitForScreen(terminal, /No good match for "zzz"; these passages are only loosely related\.[\s\S]*› \[1\]/)
})

test('nothing that a model writes steers the terminal', async () => {
  stage.script(streamText('It \u001b[2J\u001b[Hwipes\u001b]0;owned\u0007 \u009b2J\u001bcand\rgoes on.'))
  const terminal = stage.openChat({ agent: 'Slow' })
  await waitForScreen(terminal, /Ask Slow/)
  terminal.press('Try it\r')
  await waitForScreen(terminal, /^› Try it\n\n {2}It wipes [\s\S]*goes on\.\n\n─+\n› Ask Slow\n.*tokens/)
})

test('a second chat takes part in a reply that is being written', async () => {
  stage.script(stallAfter('Both of us', ' read this'))
  const first = stage.openChat({ agent: 'Slow' })
  await waitForScreen(first, /Ask Slow/)
  first.press('Begin\r')
  await waitForScreen(first, /read this/)
  const second = stage.openChat({ arguments: ['--continue'] })
  await waitForScreen(second, /› Begin\n\n {2}Both of us read this/)
  first.press('\u001b')
  await waitForScreen(first, /■ stopped/)
  await waitForScreen(second, (screen) => /Both of us read this/.test(screen) && !/■/.test(screen), 'a reply that goes on for the other')
  second.press('\u001b')
  await waitForScreen(second, /■ stopped/)
})

test.run()
