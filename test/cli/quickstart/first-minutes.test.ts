/** The quickstart at a real terminal: what it offers, asks, answers and opens. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { aloud } from '../../harness/hooks.ts'
import { hasTmux, Screen } from '../../harness/screen.ts'

const test = suite('first minutes')
let terminal: Terminal
let screen: Screen
let place: string

test.before(() => {
  place = mkdtempSync(join(tmpdir(), 'cadre-first-'))
  mkdirSync(join(place, 'handbook'))
  writeFileSync(join(place, 'handbook', 'leave.md'), '# Leave\n\nEvery employee gets twenty-five days of leave a year.\n')
  terminal = openTerminal({ ANTHROPIC_API_KEY: 'sk-ant-not-a-real-key' })
  if (hasTmux) screen = Screen.open(terminal)
})
test.after(
  aloud(async () => {
    if (hasTmux) screen.close()
    await terminal.close()
    rmSync(place, { recursive: true, force: true })
  }),
)

/** A test that needs a terminal; machines without tmux have none to give. */
const atTerminal = (sentence: string, work: () => Promise<void>) => test(sentence, async () => (hasTmux ? work() : undefined))

atTerminal(
  'a folder is asked for until there is one; the first question is answered with its source, and the chat goes on from there',
  async () => {
    screen.start('cadre quickstart')
    assert.match(await screen.waitFor('key in ANTHROPIC_API_KEY'), 'over the network')
    screen.press('Enter')
    await screen.waitFor('Which folder of documents')
    screen.type(join(place, 'nothing'))
    await screen.waitFor('There is no folder')
    screen.type('https://example.com/manual')
    await screen.waitFor('https://example.com/manual is an address, not a folder.')
    screen.type(join(place, 'handbook'))
    await screen.waitFor('What would you like to know?')
    screen.type('How many days of leave are there?')
    await screen.waitFor(/handbook.*Embedded/)
    assert.is(
      (await screen.waitFor('twenty-five days')).split('twenty-five days of').length,
      2 + 1,
      'the answer and its passage, and nothing twice',
    )
    screen.press('C-c')
    screen.press('C-c')
    const left = await screen.waitForExit()
    assert.match(left, /To go on: cadre chat --conversation conv_/)
    assert.match(left, 'cadre ask handbook "…"')
    assert.match(left, 'exit 0')
  },
)

atTerminal('run again with the folder and without the chat it makes nothing twice and ends with the answer', async () => {
  screen.start(`cadre quickstart ${join(place, 'handbook')} --no-chat`)
  await screen.waitFor('Which one answers?')
  screen.press('Enter')
  await screen.waitFor('What would you like to know?')
  screen.type('How many days of leave are there?')
  const shown = await screen.waitForExit()
  assert.match(shown, /\[1\] leave\.md/)
  assert.match(shown, 'exit 0')
  assert.is((await terminal.json<unknown[]>(['agents', 'list'])).length, 1)
  assert.is((await terminal.json<unknown[]>(['knowledge', 'list'])).length, 1)
})

atTerminal('in 40 columns no word of a question is broken, and Tab completes the folder', async () => {
  mkdirSync(join(place, 'handmade'))
  const narrow = Screen.open(terminal, 40)
  try {
    narrow.start('cadre quickstart --no-chat')
    await narrow.waitFor('Enter for the')
    narrow.press('Enter')
    const asked = await narrow.waitFor(/^Folder:/m)
    assert.match(
      asked,
      "Which folder of documents shall it\nanswer from? Tab completes its name;\nEnter alone takes Cadre's own\ndocumentation.\nFolder:",
    )
    narrow.write(`${place}/handb`)
    narrow.press('Tab')
    await narrow.waitFor(/andbook\/$/)
    narrow.press('Enter')
    await narrow.waitFor('What would you like to know?\n(Enter to go on)')
    narrow.type('How many days of leave are there?')
    assert.match(await narrow.waitForExit(), 'exit 0')
  } finally {
    narrow.close()
  }
})

test.run()
