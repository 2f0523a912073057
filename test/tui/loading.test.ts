/** Only the chat on a terminal loads Ink and React, which are slower to load than the rest of a command. */
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

/** Returns the bundles that contain Ink, of those listed in the coverage of the command. */
function listInkBundles(): string[] {
  const loaded = readdirSync(folder).flatMap(
    (file) => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { result: { url: string }[] }).result,
  )
  const bundles = loaded.filter(({ url }) => /\/dist\/.*\.js$/.test(url)).map(({ url }) => fileURLToPath(url))
  assert.ok(bundles.length > 1, 'The coverage lists no bundles.')
  return bundles.filter((file) => readFileSync(file, 'utf8').includes('ink-root'))
}

for (const words of [
  ['ask', 'Guide', 'Are you there?'],
  ['chat', 'Guide', '--plain'],
])
  test(`cadre ${words[0]} ${words.at(-1)} does not load Ink`, async () => {
    const { code, stdout, stderr } = await fixture.run(words, { input: 'Hello\n', environment: { NODE_V8_COVERAGE: folder } })
    assert.is(code, 0, stderr)
    assert.match(stdout, 'Here.')
    assert.equal(listInkBundles(), [])
  })

atTerminal('the chat on a terminal loads Ink, so that the tests above can fail', async () => {
  const terminal = fixture.openChat({ agent: 'Guide', environment: { NODE_V8_COVERAGE: folder } })
  await terminal.waitFor(/Ask Guide/)
  terminal.write('\u0003\u0003')
  await terminal.waitFor(/exit 0/)
  assert.ok(listInkBundles().length > 0)
})

test.run()
