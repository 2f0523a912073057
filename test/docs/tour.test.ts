/** The tour and the REST lines of the README, line by line as a reader types them. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../harness/cli.ts'
import { reportFailure } from '../harness/hooks.ts'

const README = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8')
/** These have tests of their own: one reads all documentation, one needs a screen, one ends with Ctrl+C. */
const TESTED_ELSEWHERE = /^cadre (quickstart|chat|webhooks listen)\b/

const test = suite('tour')
let terminal: Terminal
let folder: string
test.before(() => {
  terminal = openTerminal()
  folder = join(dirname(terminal.command), '..', 'place')
  mkdirSync(folder)
})
test.after(reportFailure(() => terminal.close()))

/** The blocks of shell below a heading. */
function findBlocks(heading: string): string[] {
  const section = README.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
}

const runShell = (script: string) =>
  new Promise<{ code: number; said: string }>((resolve) => {
    const environment = { ...terminal.environment, PATH: `${dirname(terminal.command)}${delimiter}${process.env.PATH}` }
    execFile('bash', ['-c', `exec 2>&1 </dev/null\n${script}`], { cwd: folder, env: environment }, (error, stdout) =>
      resolve({ code: error ? Number(error.code) : 0, said: stdout }),
    )
  })

test('every line runs as it is printed, and one is refused as it says', async () => {
  const [files = '', tour = ''] = findBlocks('A tour')
  assert.is((await runShell(`set -e\n${files}`)).code, 0)
  const said = new Map<string, string>()
  for (const line of tour.split('\n').filter((text) => text !== '' && !TESTED_ELSEWHERE.test(text))) {
    const ran = await runShell(line)
    assert.is(ran.code, line.includes('# refused') ? 1 : 0, `${line}\n${ran.said}`)
    said.set(line.replace(/\s+#.*$/, ''), ran.said)
  }
  const of = (line: string) => said.get(line) ?? `nothing was said by ${line}`
  assert.match(of("cadre ask Helper 'How many days of leave do I have?'"), 'twenty-five days of leave a year.” [1]')
  assert.match(of("cadre ask --continue 'Where do I ask for leave?'"), 'You ask for leave in the portal.” [1]')
  assert.match(of("cadre daemon logs | cadre ask Helper 'What went wrong?'"), 'does not read stdin')
  assert.match(of('cadre tools import ./openapi.yaml'), 'listRooms')
})

test('the REST side answers to what is printed', async () => {
  const { code, said } = await runShell(`set -e\n${findBlocks('REST API').join('\n')}`)
  assert.is(code, 0, said)
  assert.match(said, '"status":"healthy"')
  assert.match(said, '"name":"Helper"')
  assert.match(said, '"role":"assistant"')
})

test.run()
