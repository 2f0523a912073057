/** What is loaded for whom: Ink and React cost more than all else that a command loads, and only the chat on the whole terminal needs them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { streamText } from '../harness/scripted-provider.ts'
import { hasTmux } from '../harness/tmux-terminal.ts'

const test = suite('loaded modules')
/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip
let fixture: ChatFixture
let folder: string

test.before(
  reportFailure(async () => {
    fixture = await ChatFixture.open()
    fixture.script(streamText('Here.'))
    await fixture.createAgent('Guide')
  }),
)
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'cadre-loaded-'))
})
test.after.each(() => rmSync(folder, { recursive: true, force: true }))
test.after(reportFailure(() => fixture.close()))

/** Those of our files that a command loaded, of which Node writes down what ran, in which Ink is. */
function withInk(): string[] {
  const loaded = readdirSync(folder).flatMap(
    (file) => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { result: { url: string }[] }).result,
  )
  const ours = loaded.filter(({ url }) => /\/dist\/.*\.js$/.test(url)).map(({ url }) => fileURLToPath(url))
  assert.ok(ours.length > 1, 'nothing of ours was seen')
  return ours.filter((file) => readFileSync(file, 'utf8').includes('ink-root'))
}

for (const given of [
  ['ask', 'Guide', 'Are you there?'],
  ['chat', 'Guide', '--plain'],
])
  test(`cadre ${given[0]} ${given.at(-1)} does without Ink`, async () => {
    const { code, stdout, stderr } = await fixture.run(given, { input: 'Hello\n', environment: { NODE_V8_COVERAGE: folder } })
    assert.is(code, 0, stderr)
    assert.match(stdout, 'Here.')
    assert.equal(withInk(), [])
  })

atTerminal('the chat on the whole terminal does not, so that this would be seen', async () => {
  const terminal = fixture.openChat({ agent: 'Guide', environment: { NODE_V8_COVERAGE: folder } })
  await terminal.waitFor(/Ask Guide/)
  terminal.write('\u0003\u0003')
  await terminal.waitFor(/exit 0/)
  assert.ok(withInk().length > 0)
})

test.run()
