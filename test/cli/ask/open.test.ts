import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { ScriptedProvider, streamReply, streamText } from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'
import { hasTmux, openShell, type TmuxTerminal } from '../../harness/tmux-terminal.ts'
import { createOfficePdf } from '../../knowledge/readers/document-fixtures.ts'

const test = suite('open a citation')
const testInTmux = hasTmux ? test : test.skip
const FILLER = Array.from({ length: 60 }, (_, index) => `Line ${index} says nothing of interest.`).join('\n\n')
let terminal: Terminal
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    const handbook = join(terminal.home, '..', 'handbook')
    mkdirSync(handbook)
    writeFileSync(join(handbook, 'leave.md'), `# Handbook\n\n${FILLER}\n\n## Leave\n\nEveryone gets twenty-five days of leave.\n`)
    writeFileSync(join(handbook, 'office.pdf'), createOfficePdf())
    await terminal.run(['knowledge', 'add', handbook, '--quiet'])
    provider = await ScriptedProvider.start('openai', streamText('x'))
    provider.script = [
      streamReply(({ body }) => ({ calls: [{ name: body.tools[0].function.name, arguments: { query: 'days of leave' } }] })),
      streamText('# Leave\n\nYou get **twenty-five** days [1].'),
    ]
    await terminal.request('POST', '/models', { name: 'scripted', ...provider.model })
    await terminal.json(['agents', 'create', '--name', 'Helper', '--model', 'scripted', '--tool', 'handbook'])
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await provider.close()
  }),
)

const inTmux = async (work: (shell: TmuxTerminal) => Promise<void>) => {
  const shell = openShell(terminal)
  try {
    await work(shell)
  } finally {
    shell.close()
  }
}

test('the cited passage is printed in a pipe, and numbers that do not exist are refused', async () => {
  await terminal.run(['ask', 'Helper', 'How many days?', '--quiet'])
  const { code, stdout, stderr } = await terminal.run(['open', '1'])
  assert.is(code, 0, stderr)
  assert.match(stdout, /^leave\.md:\d\d+\n\n.*Everyone gets twenty-five days of leave\./s)
  assert.is((await terminal.json<Json>(['open'])).index, 1)
  const missing = await terminal.run(['open', '99'])
  assert.is(missing.code, 2)
  assert.match(missing.stderr, /has no \[99\].*It has \[1\]/s)
})

testInTmux('at a terminal, the document opens in the pager at the passage', async () => {
  await inTmux(async (shell) => {
    shell.start('PAGER=less cadre open 1')
    const screen = await shell.waitFor('twenty-five days')
    assert.not.match(screen, 'Line 0 says')
    shell.write('q')
    assert.match(await shell.waitForExit(), 'exit 0')
  })
})

testInTmux('ask renders Markdown at a terminal, and --plain prints it as it is', async () => {
  provider.script = [streamText('# Leave\n\nYou get **twenty-five** days.')]
  await inTmux(async (shell) => {
    const rendered = await shell.run("cadre ask Helper 'Again?'")
    assert.match(rendered, 'You get twenty-five days.')
    const plain = await shell.run("cadre ask Helper 'Again?' --plain")
    assert.match(plain, '# Leave\n\nYou get **twenty-five** days.')
  })
})

testInTmux('ask shows section and page of each citation at a terminal', async () => {
  const search = (query: string) => streamReply(({ body }) => ({ calls: [{ name: body.tools[0].function.name, arguments: { query } }] }))
  provider.script = [search('days of leave'), streamText('Twenty-five [1].'), search('parking space'), streamText('Thirty euros [1].')]
  await inTmux(async (shell) => {
    assert.match(await shell.run("cadre ask Helper 'How many days?'"), /^\[1\] leave\.md · Handbook › Leave\n/m)
    assert.match(await shell.run("cadre ask Helper 'What is parking?'"), /^\[1\] office\.pdf, page 2\n.*thirty euros/m)
  })
})

test.run()
