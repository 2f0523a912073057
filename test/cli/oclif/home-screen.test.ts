/** What `cadre` alone says, and commands as people can type them: installed, and from a clone. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatWelcome } from '../../../src/cli/oclif/first-run-screen.ts'
import { getHelpWidth } from '../../../src/cli/oclif/help.ts'
import { formatHomeScreen } from '../../../src/cli/oclif/home-screen.ts'
import { getInvocation, rewriteCommands, TOP_LEVEL_COMMANDS } from '../../../src/cli/terminal/invocation.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { aloud } from '../../harness/hooks.ts'
import { hasTmux, Screen } from '../../harness/screen.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const test = suite('cadre alone')
let terminal: Terminal

test.before(
  aloud(async () => {
    terminal = openTerminal()
  }),
)
test.after(aloud(() => terminal.close()))

/** From a clone, as the README says it. */
function fromClone(...words: string[]): { stdout: string; stderr: string } {
  const { stdout, stderr } = spawnSync(process.execPath, ['bin/run.js', ...words], {
    cwd: ROOT,
    env: terminal.environment as NodeJS.ProcessEnv,
    encoding: 'utf8',
  })
  return { stdout, stderr }
}

test('where nothing was set up it points to quickstart, by the name it was called with', async () => {
  assert.match((await terminal.run([])).stdout, '\n  cadre quickstart\n')
  assert.match(fromClone().stdout, '\n  node bin/run.js quickstart\n')
})

test('where something was, it tells how things stand on one screen, and starts nothing', async () => {
  await terminal.json(['agents', 'create', '--name', 'Helper'])
  const { stdout } = await terminal.run([])
  assert.match(stdout, `\n  The daemon runs at ${terminal.url()}.\n  Default model: Embedded. 1 agent, 0 knowledge sources.\n`)
  for (const word of TOP_LEVEL_COMMANDS) assert.match(stdout, new RegExp(`\\b${word}\\b`))
  const lines = fromClone().stdout.split('\n')
  assert.ok(lines.length <= 40 && lines.every((line) => line.length <= 80), lines.join('\n'))
  await terminal.run(['daemon', 'stop'])
  assert.match((await terminal.run([])).stdout, 'The daemon is not running; commands start it.')
  assert.match((await terminal.run(['daemon', 'status'])).stderr + (await terminal.run(['daemon', 'status'])).stdout, 'not running')
})

test('where nobody is there to ask, it points to quickstart', async () => {
  await terminal.json(['agents', 'delete', 'Helper', '--yes'])
  assert.match((await terminal.run([])).stdout.replaceAll(/\s+/g, ' '), '0 agents, 0 knowledge sources. cadre quickstart makes an agent')
})

test('help fits the terminal, narrow or not, and breaks between words', async () => {
  assert.equal(
    [getHelpWidth({ isTTY: true, columns: 40 }), getHelpWidth({ isTTY: true, columns: 10 }), getHelpWidth({ isTTY: false, columns: 0 })],
    [38, 24, 78],
  )
  if (!hasTmux) return
  const screen = Screen.open(terminal, 40)
  try {
    const page = await screen.run('cadre knowledge')
    assert.match(page, 'Knowledge sources: where documents\ncome from.\n')
    assert.match(page, 'RAG tool that knowledge add made\n      with each.')
  } finally {
    screen.close()
  }
})

test('a token that is refused is told at once, with what mends it', async () => {
  await terminal.json(['agents', 'list'])
  const { stdout } = await terminal.run([], { environment: { CADRE_TOKEN: 'wrong' } })
  assert.match(stdout.replaceAll(/\s+/g, ' '), 'It does not accept the token that is used here: cadre doctor tells what mends it.')
})

test('in a narrow terminal the welcome breaks between words', () => {
  const text = formatWelcome('AI agents over your own documents, on your own machine', 40)
  assert.match(text, 'Nothing is set up yet. This finds\nmodels, reads a folder of yours (or\n')
  assert.ok(
    text.split('\n').every((line) => line.length <= 40),
    text,
  )
})

test('in a narrow terminal what a command does stands below it, and no line is cut in the middle of a word', () => {
  const page = formatHomeScreen(
    { description: 'AI agents over your own documents', resources: TOP_LEVEL_COMMANDS, others: TOP_LEVEL_COMMANDS },
    ['The daemon is not running; commands start it.'],
    40,
  )
  assert.ok(
    page.split('\n').every((line) => line.length <= 40),
    page,
  )
  assert.match(page, '\n  cadre models discover --add\n    models of this machine and of your\n    keys\n')
})

test('what people are told to type next is what they can type', async () => {
  assert.match((await terminal.run(['agents', 'show', 'nobody'])).stderr, '\ncadre agents list shows what there is.')
  assert.match(fromClone('agents', 'show', 'nobody').stderr, '\nnode bin/run.js agents list shows what there is.')
  assert.match(fromClone('agents', 'shwo').stderr, 'node bin/run.js agents')
})

test('help says the same as errors do: usage, examples and prose hold commands as they can be typed', async () => {
  const page = fromClone('agents', 'create', '--help').stdout
  assert.match(page, '\n  $ node bin/run.js agents create [flags]\n')
  assert.match(
    page,
    "\n    $ node bin/run.js agents create --name 'Handbook helper' --system-prompt @prompt.md --tool handbook --temperature 0.2\n",
  )
  for (const words of [
    ['agents', 'create', '--help'],
    ['agents', '--help'],
    ['knowledge', 'documents', '--help'],
    ['ask', '-h'],
    ['--help'],
    ['help', 'chat'],
  ])
    assert.not.match(
      fromClone(...words).stdout,
      new RegExp(`(^|\\s)cadre (${TOP_LEVEL_COMMANDS.join('|')}|--help|<)`, 'm'),
      words.join(' '),
    )
  const installed = await terminal.run(['agents', 'create', '--help'])
  assert.match(installed.stdout, '\n  $ cadre agents create [flags]\n')
  assert.not.match(installed.stdout, 'run.js')
})

test('an example is one line, however long, so that it can be pasted', async () => {
  const { stdout } = await terminal.run(['ask', '--help'])
  assert.match(stdout, `\n    $ cadre ask "Who is Ada?" --json | jq -rj 'select(.event == "message_delta").data.text'\n`)
  assert.match((await terminal.run(['plan', '--help'])).stdout, '\n  $ cadre plan --file <directory> [flags]\n')
  assert.match((await terminal.run(['rag', 'query', '--help'])).stdout, '\n  $ cadre rag query TOOL QUESTION')
})

test('a failure as JSON stays JSON, whatever the path is called', () => {
  const folder = join(terminal.home, "ada's")
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(ROOT, 'bin', 'run.js'), join(folder, 'run.js'))
  const env = terminal.environment as NodeJS.ProcessEnv
  const { stderr } = spawnSync(process.execPath, [join(folder, 'run.js'), 'agents', 'show', 'nobody', '--json'], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  })
  const told = stderr.split('\n').find((line) => line.startsWith('{')) ?? ''
  assert.match(JSON.parse(told).hint, `'\\''s/run.js' agents list`)
})

test('only commands are replaced, and each way of calling has its name', () => {
  const clone = join('/home', 'ada', 'my cadre', 'bin', 'run.js')
  assert.is(getInvocation(clone, '/home/ada/my cadre'), 'node bin/run.js')
  assert.is(getInvocation(clone, '/elsewhere'), "node '/home/ada/my cadre/bin/run.js'")
  assert.is(getInvocation('/usr/local/bin/cadre', '/elsewhere'), 'cadre')
  assert.is(getInvocation('/home/ada/project/node_modules/.bin/cadre', '/elsewhere'), 'npx cadre')
  assert.is(getInvocation('/usr/lib/node_modules/cadre/bin/run.js', '/elsewhere'), 'cadre')
  const told = 'The cadre home, ./cadre status, "x" is not a cadre command. Try: \u001b[1mcadre ask "…"\u001b[22m or `cadre --help`.'
  const typed = told.replace('mcadre ask', 'mnpx cadre ask').replace('`cadre', '`npx cadre')
  assert.is(rewriteCommands(told, 'npx cadre'), typed)
  assert.is(rewriteCommands(typed, 'npx cadre'), typed)
})

test('every first word of the grammar is known', () => {
  const { commands } = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8')) as { commands: Record<string, unknown> }
  assert.equal([...new Set(Object.keys(commands).map((id) => id.split(':')[0]))].sort(), TOP_LEVEL_COMMANDS)
})

test.run()
