/** Most commands of test files share a process (harness/command-host), in which they must behave as in their own. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, runCommand, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('processes')
let terminal: Terminal
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.run(['daemon', 'start'])
    await terminal.request('POST', '/agents', { name: 'Helper' })
  }),
)
test.after(reportFailure(() => terminal.close()))

const COMMANDS: { words: string[]; input?: string; environment?: Record<string, string> }[] = [
  { words: [] },
  { words: ['agents', '--help'] },
  { words: ['agents', 'list'] },
  { words: ['agents', 'show', 'Helper', '--json'] },
  { words: ['agents', 'show', 'Nobody', '--json'] },
  { words: ['agents', 'lst'] },
  { words: ['agents', 'create', '--tempature', '1'] },
  { words: ['agents', 'show', 'Helper'], environment: { FORCE_COLOR: '1' } },
  { words: ['ask', 'Nobody', 'Hello?'] },
  { words: ['api', 'GET', '/agents'] },
  { words: ['daemon', 'start'] },
  { words: ['login', 'http://127.0.0.1:1'], input: 'two words' },
  { words: ['status'], environment: { CADRE_URL: 'http://127.0.0.1:1' } },
]

for (const { words, ...options } of COMMANDS) {
  test(`cadre ${words.join(' ')} behaves the same in a shared process and in its own`, async () => {
    const environment = { ...terminal.environment, ...options.environment }
    const own = await runCommand(terminal.command, words, { cwd: terminal.home, ...options, environment })
    assert.ok(own.stdout !== '' || own.stderr !== '')
    // The second one finds what the first one has left behind.
    for (const time of ['first', 'second']) assert.equal(await terminal.run(words, { cwd: terminal.home, ...options }), own, time)
  })
}

test.run()
