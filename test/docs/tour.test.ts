/** Runs the commands of the tour and of the REST section in the README. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../harness/cli.ts'
import { installShellCommand } from '../harness/command-host/shell-command.ts'
import { reportFailure } from '../harness/hooks.ts'

const README = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8')
/** Commands with their own tests: one reads all documentation, one needs a terminal, one ends with Ctrl+C. */
const TESTED_ELSEWHERE = /^cadre (quickstart|chat|webhooks listen)\b/

const test = suite('tour')
let terminal: Terminal
let folder: string
let bin: string
let command: { close(): void }
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    const home = join(dirname(terminal.command), '..')
    ;[folder, bin] = [join(home, 'place'), join(home, 'shell')]
    for (const path of [folder, bin]) mkdirSync(path)
    command = await installShellCommand(bin)
  }),
)
test.after(
  reportFailure(async () => {
    command.close()
    await terminal.close()
  }),
)

/** Returns the shell blocks below a heading. */
function findBlocks(heading: string): string[] {
  const section = README.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
}

const runShell = (script: string) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const environment = { ...terminal.environment, PATH: `${bin}${delimiter}${process.env.PATH}` }
    execFile('bash', ['-c', `exec 2>&1 </dev/null\n${script}`], { cwd: folder, env: environment }, (error, stdout) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout }),
    )
  })

test('every command of the tour works as printed, and the refused one exits with 1', async () => {
  const [files = '', tour = ''] = findBlocks('A tour')
  assert.is((await runShell(`set -e\n${files}`)).code, 0)
  const outputs = new Map<string, string>()
  for (const line of tour.split('\n').filter((text) => text !== '' && !TESTED_ELSEWHERE.test(text))) {
    const result = await runShell(line)
    assert.is(result.code, line.includes('# refused') ? 1 : 0, `${line}\n${result.output}`)
    outputs.set(line.replace(/\s+#.*$/, ''), result.output)
  }
  const getOutput = (line: string) => outputs.get(line) ?? `${line} was not run`
  assert.match(getOutput("cadre ask Helper 'How many days of leave do I have?'"), 'twenty-five days of leave a year.” [1]')
  assert.match(getOutput("cadre ask --continue 'Where do I ask for leave?'"), 'You ask for leave in the portal.” [1]')
  assert.match(getOutput("cadre daemon logs | cadre ask Helper 'What went wrong?'"), 'cannot read stdin')
  assert.match(getOutput('cadre tools import ./openapi.yaml'), 'listRooms')
})

test('the REST examples work as printed', async () => {
  const { code, output } = await runShell(`set -e\n${findBlocks('REST API').join('\n')}`)
  assert.is(code, 0, output)
  assert.match(output, '"status":"healthy"')
  assert.match(output, '"name":"Helper"')
  assert.match(output, '"role":"assistant"')
})

test.run()
