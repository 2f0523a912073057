/** The chat over documents with the embedded model: citations, sources panel, /documents and shared replies. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { stallAfter, streamText } from '../harness/scripted-provider.ts'
import { hasTmux } from '../harness/tmux-terminal.ts'
import { createOfficePdf } from '../knowledge/readers/document-fixtures.ts'

const test = suite('chat over documents')
/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip
let fixture: ChatFixture

test.before(
  reportFailure(async () => {
    fixture = await ChatFixture.open()
    const folder = join(fixture.home, 'handbook')
    mkdirSync(folder)
    writeFileSync(join(folder, 'office.pdf'), createOfficePdf())
    writeFileSync(join(folder, 'leave.md'), '# Leave\n\nEvery employee gets twenty-five days of paid annual leave.\n')
    writeFileSync(join(folder, 'travel.md'), '# Travel\n\nTrains are booked in second class, hotels up to 120 euros a night.\n')
    const { code, stderr } = await fixture.run(['knowledge', 'add', folder])
    assert.is(code, 0, stderr)
    const [tool] = await fixture.get('/rag-tools')
    await fixture.create('/agents', { name: 'Handbook', tools: [tool.id] })
    await fixture.createAgent('Slow')
  }),
)
test.after(reportFailure(() => fixture.close()))

atTerminal('a reply cites its sources, and Ctrl+O shows the passage', async () => {
  const terminal = fixture.openChat({ agent: 'Handbook', rows: 40 })
  await terminal.waitFor(/Ask Handbook/)
  terminal.write('How many days of annual leave do I get?\r')
  await terminal.waitFor(/twenty-five days of paid annual leave.*\[1\]\n\n {2}\[1\] leave\.md\n/)
  terminal.write('\u000f')
  await terminal.waitFor(
    /Sources.*\n› \[1\] leave\.md · Leave\n( {2}\[.*\n)*( {4}│.*\n)*? {4}│ .*Every employee gets twenty-five days of paid annual leave\./,
  )
  terminal.write('\u001b')
  await terminal.waitFor((now) => !now.includes('│'), 'a closed panel')
  terminal.write('/documents hotels\r')
  await terminal.waitFor(/Found for "hotels".*\n› \[1\] travel\.md\n/)
  terminal.write('\u001b')
  await terminal.waitFor((now) => !now.includes('│'), 'a closed panel')
  terminal.write('/documents zzz\r')
  await terminal.waitFor(/No good match for "zzz"; these passages are only loosely related\.[\s\S]*› \[1\]/)
})

atTerminal('a citation of a document with pages shows the page', async () => {
  const terminal = fixture.openChat({ agent: 'Handbook', rows: 40 })
  await terminal.waitFor(/Ask Handbook/)
  terminal.write('How much does a parking space cost?\r')
  await terminal.waitFor(/thirty euros.*\[1\]\n\n {2}\[1\] office\.pdf,\u00a0p\.\u00a02\n/)
  terminal.write('\u000f')
  await terminal.waitFor(/Sources.*\n› \[1\] office\.pdf, page 2\n/)
})

atTerminal('a model cannot send control characters to the terminal', async () => {
  fixture.script(streamText('It \u001b[2J\u001b[Hwipes\u001b]0;owned\u0007 \u009b2J\u001bcand\rgoes on.'))
  const terminal = fixture.openChat({ agent: 'Slow' })
  await terminal.waitFor(/Ask Slow/)
  terminal.write('Try it\r')
  await terminal.waitFor(/^› Try it\n\n {2}It wipes [\s\S]*goes on\.\n\n─+\n› Ask Slow\n.*tokens/)
})

atTerminal('a second chat follows a reply in progress', async () => {
  fixture.script(stallAfter('Both of us', ' read this'))
  const first = fixture.openChat({ agent: 'Slow' })
  await first.waitFor(/Ask Slow/)
  first.write('Begin\r')
  await first.waitFor(/read this/)
  const second = fixture.openChat({ arguments: ['--continue'] })
  await second.waitFor(/› Begin\n\n {2}Both of us read this/)
  first.write('\u001b')
  await first.waitFor(/■ stopped/)
  await second.waitFor((screen) => /Both of us read this/.test(screen) && !/■/.test(screen), 'a reply that continues in the second chat')
  second.write('\u001b')
  await second.waitFor(/■ stopped/)
})

test.run()
