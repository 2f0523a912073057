/** Completion in the real shells: what Tab inserts and lists. */
import { spawnSync } from 'node:child_process'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SHELLS, type Shell } from '../../../src/cli/completion/scripts.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { hasTmux, TmuxTerminal } from '../../harness/tmux-terminal.ts'

/** oclif alone has 200 kB. */
const MAX_BUNDLE_BYTES = 100_000
const test = suite('completion in shells')
let terminal: Terminal

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.run(['daemon', 'start'])
    const create = async (path: string, body: object) => (await terminal.request('POST', path, body)).data.id as string
    const model = await create('/models', { name: 'Local Llama', provider: 'ollama', model_id: 'llama3.2' })
    const source = await create('/knowledge-sources', { name: 'Staff handbook', type: 'file' })
    await create('/rag-tools', { name: 'handbook', knowledge_source_id: source })
    await create('/retrieval-tools', { name: 'wiki:pages', knowledge_source_ids: [source] })
    const agent = await create('/agents', { name: "Zoë's helper", model_id: model })
    await create('/agents', { name: 'Accountant' })
    await create('/conversations', { agent_id: agent, title: 'Days of leave & travel' })
    const cases = [{ input: 'How many days?' }]
    await create('/evaluations', { name: 'Smoke test', type: 'agent', target_id: agent, test_cases: cases })
    for (const shell of SHELLS) writeFileSync(join(terminal.home, shell), (await terminal.run(['autocomplete', shell])).stdout)
  }),
)
test.after(reportFailure(() => terminal.close()))

const START: Record<Shell, (script: string) => { command: string[]; setup: string }> = {
  bash: (script) => ({ command: ['bash', '--norc', '--noprofile'], setup: `PS1='> '; bind 'set bell-style none'; source ${script}` }),
  zsh: (script) => ({ command: ['zsh', '-f'], setup: `PS1='> '; autoload -Uz compinit; compinit -u; source ${script}` }),
  fish: (script) => ({ command: ['fish', '--no-config'], setup: `function fish_prompt; echo '> '; end; source ${script}` }),
}

/** What is typed before Tab, and the line after it. */
const INSERTED: [typed: string, line: string | RegExp][] = [
  ['cadre age', 'cadre agents '],
  ['cadre --profile lo', 'cadre --profile local '],
  ['cadre --profile local age', 'cadre --profile local agents '],
  ['cadre agents update --temp', 'cadre agents update --temperature '],
  ['cadre agents list --order d', 'cadre agents list --order desc '],
  ['cadre agents list --output=js', /cadre agents list --output=json ?$/],
  ['cadre agents show Acc', 'cadre agents show Accountant '],
  ['cadre agents show Zo', /cadre agents show (Zoë\\'s\\ helper|"Zoë's helper") ?$/],
  ['cadre agents delete Accountant Zo', /cadre agents delete Accountant (Zoë\\'s\\ helper|"Zoë's helper") ?$/],
  ['cadre knowledge sync St', /cadre knowledge sync (Staff\\ handbook|'Staff handbook') ?$/],
  ['cadre models test Local\\ L', /cadre models test Local\\ Llama ?$/],
  ['cadre agents create --model "Local L', /cadre agents create --model "Local Llama" ?$/],
  ['cadre agents update x --add-tool ha', 'cadre agents update x --add-tool handbook '],
  ['cadre agents update x --add-tool handbook,wiki:p', /--add-tool handbook,wiki:pages ?$/],
  ['cadre conversations show Day', /cadre conversations show (Days\\ of\\ leave\\ \\&\\ travel|'Days of leave & travel') ?$/],
  ['cadre evaluations run Sm', /cadre evaluations run (Smoke\\ test|'Smoke test') ?$/],
]

for (const shell of SHELLS) {
  const runs = hasTmux && spawnSync(shell, ['--version']).status === 0
  const define = runs ? test : test.skip

  define(`${shell} completes commands, flags, values and names`, async () => {
    const { command, setup } = START[shell](join(terminal.home, shell))
    const environment = { ...terminal.environment, PATH: `${dirname(terminal.command)}:${process.env.PATH}`, LANG: 'C.UTF-8' }
    const screen = new TmuxTerminal({ command, environment, cwd: terminal.home, columns: 120, rows: 30 })
    try {
      screen.type(`${setup}; clear`)
      await screen.waitFor((text) => /^> ?$/m.test(text) && !text.includes('source'), 'a prompt')
      for (const [typed, line] of INSERTED) {
        screen.write(`${typed}\t`)
        const expected = typeof line === 'string' ? line.trimEnd() : line
        await screen.waitFor((text) => {
          const shown = text.split('\n').findLast((candidate) => candidate.startsWith('> cadre')) ?? ''
          return typeof expected === 'string' ? shown === `> ${expected}` : expected.test(shown)
        }, `${line} in ${shell} after ${typed}`)
        screen.press('C-u')
        await screen.waitFor((text) => /^> *$/m.test(text) && !text.includes('> cadre'), 'an empty prompt')
      }
      screen.write('cadre agents show \t\t')
      await screen.waitFor((text) => text.includes('Accountant') && text.includes('Zoë'), `both agents in ${shell}`)
    } finally {
      screen.close()
    }
  })
}

/** Returns the size of a file of the build and of all that it imports. */
function measureBundle(file: string, known = new Set<string>()): number {
  if (known.has(file)) return 0
  known.add(file)
  const text = readFileSync(file, 'utf8')
  const imports = [...text.matchAll(/(?:from|import)"(\.[^"]+)"/g)].map(([, name]) => join(dirname(file), name as string))
  return imports.reduce((size, name) => size + measureBundle(name, known), text.length)
}

test('completion loads neither oclif nor the contract, so that Tab needs little CPU time', () => {
  const size = measureBundle(join(dirname(realpathSync(terminal.command)), '../dist/complete.js'))
  assert.ok(size > 10_000 && size < MAX_BUNDLE_BYTES, `${size} bytes`)
})

test('without a daemon, names are not completed and no daemon is started', () => {
  const environment = { ...terminal.environment, CADRE_HOME: join(terminal.home, 'nowhere') }
  const words = [terminal.command, '__complete', 'fish', 'agents', 'show', '']
  assert.is(spawnSync(process.execPath, words, { env: environment, encoding: 'utf8' }).stdout, 'words\n')
  assert.not.throws(() => writeFileSync(join(terminal.home, 'nowhere'), '', { flag: 'wx' }))
})

test.run()
