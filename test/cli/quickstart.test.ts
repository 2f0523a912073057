/** The first minute with Cadre: one command, from nothing to an answer with its sources. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { aloud } from '../harness/hooks.ts'
import { openTerminal, type Terminal } from './terminal.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const test = suite('quickstart')
let terminal: Terminal
let place: string
test.before(() => {
  terminal = openTerminal()
  place = mkdtempSync(join(tmpdir(), 'cadre-quickstart-'))
})
test.after(
  aloud(async () => {
    await terminal.close()
    rmSync(place, { recursive: true, force: true })
  }),
)

const counts = async () => {
  const count = async (family: string) => (await terminal.json<unknown[]>([family, 'list', '--all'])).length
  return [await count('knowledge'), await count('rag'), await count('agents')]
}

test('a question is answered from the documentation, with citations, starting from nothing', async () => {
  const { code, stdout, stderr } = await terminal.run(['quickstart'])
  assert.is(code, 0, stderr)
  assert.match(stderr, /Cadre documentation: \d+ documents, \d+ passages indexed/)
  assert.match(stderr, 'Cadre guide')
  assert.match(stderr, /All of this took \d/)
  assert.match(stderr, "cadre ask 'Cadre guide' ")
  assert.match(stdout, /” \[1\]/)
  assert.match(stdout, /^\[1\] (README|docs\/.*)\.md/m)
  assert.match(stdout, 'AES-256-GCM')
  assert.equal(await counts(), [1, 1, 1])
})

test('the agent holds the tool, and the source is read from the installation', async () => {
  const [tool] = await terminal.json<{ id: string; knowledge_source_id: string }[]>(['rag', 'list'])
  const agent = await terminal.json(['agents', 'show', 'Cadre guide'])
  assert.equal(agent.tools, [tool?.id])
  const documents = await terminal.json<{ name: string; status: string }[]>(['knowledge', 'documents', 'list', 'Cadre documentation', '--all'])
  assert.ok(documents.length > 10 && documents.every(({ name, status }) => /^(README\.md|docs\/.*\.md)$/.test(name) && status === 'indexed'))
})

test('run again it doubles nothing, and gives its data to a script', async () => {
  const again = await terminal.json<{ answer: string; results: unknown[]; agent: { name: string }; seconds: number }>(['quickstart', '--quiet'])
  assert.match(again.answer, '[1]')
  assert.equal([again.results.length, again.agent.name], [3, 'Cadre guide'])
  assert.equal(await counts(), [1, 1, 1])
})

test('an agent that lost the tool gets it back', async () => {
  await terminal.json(['agents', 'update', 'Cadre guide', '--tool', ''])
  await terminal.json(['quickstart', '--quiet'])
  assert.is((await terminal.json<{ tools: string[] }>(['agents', 'show', 'Cadre guide'])).tools.length, 1)
})

test('with a folder it makes an agent of that name, once, and tells how to ask it', async () => {
  writeFileSync(join(place, 'leave.md'), '# Leave\n\nEvery employee gets twenty-five days of leave.\n')
  const name = place.split('/').at(-1) as string
  const { code, stderr } = await terminal.run(['quickstart', place])
  assert.is(code, 0, stderr)
  assert.match(stderr, `${name}: 1 document, 1 passage indexed`)
  assert.match(stderr, `cadre ask ${name} "…"`)
  const again = await terminal.json<{ agent: { name: string; tools: string[] }; tool: { id: string } }>(['quickstart', place])
  assert.equal([again.agent.name, again.agent.tools], [name, [again.tool.id]])
  assert.equal(await counts(), [2, 2, 2])
  const missing = await terminal.run(['quickstart', join(place, 'nothing')])
  assert.is(missing.code, 2)
})

test('a second folder of the same name gets another one with --name', async () => {
  const namesake = join(place, 'other', place.split('/').at(-1) as string)
  mkdirSync(namesake, { recursive: true })
  writeFileSync(join(namesake, 'travel.md'), '# Travel\n\nA hotel may cost 140 euros.\n')
  const refused = await terminal.run(['quickstart', namesake])
  assert.is(refused.code, 2)
  assert.match(refused.stderr, 'another --name')
  const { agent } = await terminal.json<{ agent: { name: string } }>(['quickstart', namesake, '--name', 'second'])
  assert.is(agent.name, 'second')
})

test('npm start is the quickstart, and help names it first', async () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  assert.is(scripts.start, 'node bin/run.js quickstart')
  const { stdout } = await terminal.run(['--help'])
  assert.match(stdout.split('DESCRIPTION')[0] ?? '', 'cadre quickstart')
  assert.match(stdout, /COMMANDS\n\s+quickstart /)
})

test('the documentation is part of the package', async () => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT, maxBuffer: 64 * 1024 ** 2 })
  const [pack] = JSON.parse(stdout) as { files: { path: string }[] }[]
  const paths = pack?.files.map(({ path }) => path) ?? []
  for (const file of ['docs/errors.md', 'docs/decisions/0004-secrets.md']) assert.ok(paths.includes(file), file)
})

test.run()
