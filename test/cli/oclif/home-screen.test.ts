/** `cadre` without arguments, help layout, and commands in messages for each way to start Cadre. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatWelcome } from '../../../src/cli/oclif/first-run-screen.ts'
import { getHelpWidth } from '../../../src/cli/oclif/help.ts'
import { formatHomeScreen } from '../../../src/cli/oclif/home-screen.ts'
import { wrapHelp } from '../../../src/cli/oclif/wrap-help.ts'
import { getInvocation, rewriteCommands, rewriteReply, TOP_LEVEL_COMMANDS } from '../../../src/cli/terminal/invocation.ts'
import { stringWidth } from '../../../src/cli/terminal/text.ts'
import { CommandHosts, openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { hasTmux, openShell } from '../../harness/tmux-terminal.ts'
import { waitFor } from '../../harness/wait-for.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const test = suite('home screen')
const atTerminal = hasTmux ? test : test.skip
let terminal: Terminal

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
  }),
)
test.after(reportFailure(() => terminal.close()))

const hosts = new CommandHosts()
/** Runs the CLI from a clone. */
const runInClone = (...words: string[]) => hosts.run(join(ROOT, 'bin', 'run.js'), words, { cwd: ROOT, environment: terminal.environment })

test('without a build, the CLI says how to build it', () => {
  const folder = join(terminal.home, 'unbuilt')
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
  const { status, stderr } = spawnSync('npm', ['start', '--silent'], { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' })
  assert.is(status, 1)
  assert.match(stderr, /^Error: Cadre is not built, dist\/main\.js is missing\.\n.*: npm ci\n.*: npm run build\n$/m)
  assert.not.match(stderr, 'ERR_MODULE_NOT_FOUND')
})

test('before the first use, the home screen suggests quickstart as it can be typed', async () => {
  assert.match((await terminal.run([])).stdout, '\n  cadre quickstart\n')
  assert.match((await runInClone()).stdout, '\n  node bin/run.js quickstart\n')
})

test('the home screen shows the state of the service and starts nothing', async () => {
  await terminal.json(['agents', 'create', '--name', 'Helper'])
  const { stdout } = await terminal.run([])
  assert.match(stdout, `\n  The daemon is running at ${terminal.url()}.\n  Default model: Embedded. 1 agent, 0 knowledge sources.\n`)
  for (const word of TOP_LEVEL_COMMANDS) assert.match(stdout, new RegExp(`\\b${word}\\b`))
  const lines = (await runInClone()).stdout.split('\n')
  assert.ok(lines.length <= 40 && lines.every((line) => line.length <= 80), lines.join('\n'))
  await terminal.run(['daemon', 'stop'])
  assert.match((await terminal.run([])).stdout, 'The daemon is not running. Commands start it automatically.')
  assert.match((await terminal.run(['daemon', 'status'])).stderr + (await terminal.run(['daemon', 'status'])).stdout, 'not running')
})

test('without agents, the home screen suggests quickstart', async () => {
  await terminal.json(['agents', 'delete', 'Helper', '--yes'])
  assert.match(
    (await terminal.run([])).stdout.replaceAll(/\s+/g, ' '),
    '0 agents, 0 knowledge sources. To create an agent that answers from a folder: cadre quickstart',
  )
})

test('the help is two columns narrower than the terminal', () => {
  assert.equal(
    [getHelpWidth({ isTTY: true, columns: 40 }), getHelpWidth({ isTTY: true, columns: 10 }), getHelpWidth({ isTTY: false, columns: 0 })],
    [38, 24, 78],
  )
})

atTerminal('help fits a narrow terminal and wraps between words', async () => {
  const screen = openShell(terminal, 40)
  try {
    const page = await screen.run('cadre knowledge')
    assert.match(page, 'Knowledge sources: where documents come\nfrom.\n')
    assert.match(page, /index\s+new\s+and\s+changed\s+documents\s+and\s+remove\s+deleted\s+ones\./, 'no word is broken')
  } finally {
    screen.close()
  }
})

test('the home screen reports a rejected token with a fix', async () => {
  await terminal.json(['agents', 'list'])
  const { stdout } = await terminal.run([], { environment: { CADRE_TOKEN: 'wrong' } })
  assert.match(stdout.replaceAll(/\s+/g, ' '), 'The service rejects the token. To fix it: cadre doctor')
})

test('the welcome text wraps between words in a narrow terminal', () => {
  const text = formatWelcome('AI agents over your own documents, on your own machine', 40)
  assert.match(text, 'Get started: choose a model and a folder\nof documents')
  assert.ok(
    text.split('\n').every((line) => line.length <= 40),
    text,
  )
})

test('in a narrow terminal, the home screen puts descriptions below the commands', () => {
  const page = formatHomeScreen(
    { description: 'AI agents over your own documents', resources: TOP_LEVEL_COMMANDS, others: TOP_LEVEL_COMMANDS },
    ['The daemon is not running. Commands start it automatically.'],
    40,
  )
  assert.ok(
    page.split('\n').every((line) => line.length <= 40),
    page,
  )
  assert.match(page, '\n  cadre models discover --add\n    add models from this machine or your\n    API keys\n')
})

test('commands in errors match the way Cadre was started', async () => {
  assert.match((await terminal.run(['agents', 'show', 'nobody'])).stderr, '\nTo list all: cadre agents list')
  assert.match((await runInClone('agents', 'show', 'nobody')).stderr, '\nTo list all: node bin/run.js agents list')
  assert.match((await runInClone('agents', 'shwo')).stderr, 'node bin/run.js agents')
})

test('commands in help match the way Cadre was started', async () => {
  const page = (await runInClone('agents', 'create', '--help')).stdout
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
      (await runInClone(...words)).stdout,
      new RegExp(`(^|\\s)cadre (${TOP_LEVEL_COMMANDS.join('|')}|--help|<)`, 'm'),
      words.join(' '),
    )
  const installed = await terminal.run(['agents', 'create', '--help'])
  assert.match(installed.stdout, '\n  $ cadre agents create [flags]\n')
  assert.not.match(installed.stdout, 'run.js')
})

atTerminal('the help of every command fits 40, 80 and 200 columns', async () => {
  const screen = openShell(terminal, 40)
  const file = join(terminal.home, 'help')
  screen.record(file)
  try {
    screen.type(`NO_COLOR=1 ${process.execPath} '${join(ROOT, 'test', 'cli', 'oclif', 'print-help.js')}'`)
    for (const columns of [40, 80, 200]) {
      screen.resize(columns, 50)
      await waitFor(() => readFileSync(file, 'utf8').includes(` pages in ${columns} columns.`))
      // A slow shell shows the command twice: as it was typed, and at its prompt.
      const pages = readFileSync(file, 'utf8').replaceAll('\r', '').split("print-help.js'\n").at(-1) as string
      const lines = (pages.split(/^\d+ pages in .*\n/m).at(-2) ?? '').split('\n')
      assert.ok(lines.length > 1_000)
      // A shell must receive a long word of an example as it is.
      const tooLong = lines.filter((line) => stringWidth(line) > columns && !/^ {6}\S+( \\)?$|^ {6}(['"]).*\2( \\)?$/.test(line))
      assert.equal(tooLong, [], `${columns} columns`)
    }
  } finally {
    screen.close()
  }
})

test('examples fit a terminal, and a shell accepts their lines', () => {
  const example = `    $ cadre ask "Who is Ada?" --json | jq -rj '.data.text'`
  assert.is(wrapHelp(example, 40), `    $ cadre ask "Who is Ada?" --json | \\\n      jq -rj '.data.text'`)
  assert.is(wrapHelp(example, 80), example)
  const open = `    $ echo '{ "text":  "two spaces", "quote": "not closed`
  assert.is(wrapHelp(open, 20), open)
})

test('examples in help are not wrapped in a pipe', async () => {
  const { stdout } = await terminal.run(['ask', '--help'])
  assert.match(stdout, `\n    $ cadre ask "Who is Ada?" --json | jq -rj 'select(.event == "message_delta").data.text'\n`)
  assert.match((await terminal.run(['plan', '--help'])).stdout, '\n  $ cadre plan --file <directory> [flags]\n')
  assert.match((await terminal.run(['rag', 'query', '--help'])).stdout, '\n  $ cadre rag query TOOL QUESTION')
})

test('a JSON error is valid even if the path of Cadre contains quotes', () => {
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

test('only commands are rewritten, for each way to start Cadre', () => {
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

test('in replies, only the command of the embedded model is rewritten', () => {
  const reply = 'To add one, run cadre models discover --add. Quote: "cadre status" [1]'
  assert.is(rewriteReply(reply, 'node bin/run.js'), 'To add one, run node bin/run.js models discover --add. Quote: "cadre status" [1]')
  assert.is(rewriteReply(reply, 'cadre'), reply)
})

const readCommands = () => JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8')) as { commands: Record<string, unknown> }

test('topics that the help lists as resources have the five verbs', async () => {
  const { commands } = readCommands()
  const [, resources = ''] = /\nRESOURCES\n([\s\S]*?)\nSERVICE\n/.exec((await runInClone('--help')).stdout) ?? []
  const topics = [...resources.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, topic]) => topic)
  assert.ok(topics.includes('agents'))
  for (const topic of topics)
    for (const verb of ['list', 'show', 'create', 'update', 'delete']) assert.ok(`${topic}:${verb}` in commands, `${topic} ${verb}`)
})

test('TOP_LEVEL_COMMANDS contains every topic and command', () => {
  const { commands } = readCommands()
  assert.equal([...new Set(Object.keys(commands).map((id) => id.split(':')[0]))].sort(), TOP_LEVEL_COMMANDS)
})

test.run()
