/** Quickstart at a real terminal. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { hasTmux, openShell, type TmuxTerminal } from '../../harness/tmux-terminal.ts'

const test = suite('quickstart at a terminal')
let terminal: Terminal
let screen: TmuxTerminal
let place: string

test.before(() => {
  place = mkdtempSync(join(tmpdir(), 'cadre-first-'))
  mkdirSync(join(place, 'handbook'))
  writeFileSync(join(place, 'handbook', 'leave.md'), '# Leave\n\nEvery employee gets twenty-five days of leave a year.\n')
  terminal = openTerminal({ ANTHROPIC_API_KEY: 'sk-ant-not-a-real-key' })
  if (hasTmux) screen = openShell(terminal)
})
test.after(
  reportFailure(async () => {
    if (hasTmux) screen.close()
    await terminal.close()
    rmSync(place, { recursive: true, force: true })
  }),
)

/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip

atTerminal('quickstart prompts until the folder exists, answers the first question with citations and opens the chat', async () => {
  screen.start('cadre quickstart')
  assert.match(await screen.waitFor('key in ANTHROPIC_API_KEY'), 'over the network')
  screen.press('Enter')
  await screen.waitFor('Which folder of documents')
  screen.type(join(place, 'nothing'))
  await screen.waitFor('There is no folder')
  screen.type('https://example.com/manual')
  await screen.waitFor('https://example.com/manual is a URL, not a folder.')
  screen.type(join(place, 'handbook'))
  await screen.waitFor('What would you like to know?')
  screen.type('How many days of leave are there?')
  await screen.waitFor(/handbook.*Embedded/)
  assert.is(
    (await screen.waitFor('twenty-five days')).split('twenty-five days of').length,
    2 + 1,
    'the answer and its passage, without duplicates',
  )
  screen.press('C-c')
  screen.press('C-c')
  const left = await screen.waitForExit()
  assert.match(left, /To continue: cadre chat --conversation conv_/)
  assert.match(left, 'cadre ask handbook "…"')
  assert.match(left, 'exit 0')
})

atTerminal('a second quickstart with --no-chat creates nothing and exits after the answer', async () => {
  screen.start(`cadre quickstart ${join(place, 'handbook')} --no-chat`)
  await screen.waitFor('Which model?')
  screen.press('Enter')
  await screen.waitFor('What would you like to know?')
  screen.type('How many days of leave are there?')
  const shown = await screen.waitForExit()
  assert.match(shown, /\[1\] leave\.md/)
  assert.match(shown, 'exit 0')
  assert.is((await terminal.json<unknown[]>(['agents', 'list'])).length, 1)
  assert.is((await terminal.json<unknown[]>(['knowledge', 'list'])).length, 1)
})

atTerminal('in 40 columns, quickstart wraps questions between words, and Tab completes the folder', async () => {
  mkdirSync(join(place, 'handmade'))
  const narrow = openShell(terminal, 40)
  try {
    narrow.start('cadre quickstart --no-chat')
    await narrow.waitFor('Enter for the')
    narrow.press('Enter')
    const asked = await narrow.waitFor(/^Folder:/m)
    assert.match(
      asked,
      "Which folder of documents should it\nanswer from? Press Tab to complete, or\nEnter to use Cadre's documentation.\nFolder:",
    )
    narrow.write(`${place}/handb`)
    narrow.press('Tab')
    await narrow.waitFor((text) => text.replaceAll('\n', '').endsWith('/handbook/'), 'the completed folder')
    narrow.press('Enter')
    await narrow.waitFor('What would you like to know?\n(Enter to skip)')
    narrow.type('How many days of leave are there?')
    assert.match(await narrow.waitForExit(), 'exit 0')
  } finally {
    narrow.close()
  }
})

test.run()
