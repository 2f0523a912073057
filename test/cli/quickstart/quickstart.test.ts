/** Quickstart without a terminal. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const test = suite('quickstart')
let terminal: Terminal
let place: string
test.before(() => {
  terminal = openTerminal()
  place = mkdtempSync(join(tmpdir(), 'cadre-quickstart-'))
})
test.after(
  reportFailure(async () => {
    await terminal.close()
    rmSync(place, { recursive: true, force: true })
  }),
)

const counts = async () => {
  const count = async (path: string) => (await terminal.request('GET', `${path}?limit=100`)).data.length
  return [await count('/knowledge-sources'), await count('/rag-tools'), await count('/agents')]
}

test('quickstart answers a question from the documentation with citations', async () => {
  const { code, stdout, stderr } = await terminal.run(['quickstart'])
  assert.is(code, 0, stderr)
  assert.match(stderr, /Cadre documentation: \d+ documents, \d+ passages indexed/)
  assert.match(stderr, 'Cadre guide')
  assert.match(stderr, /Finished in \d/)
  assert.match(stderr, "cadre ask 'Cadre guide' ")
  assert.match(stdout, /” \[1\]/)
  assert.match(stdout, /^\[1\] (README|docs\/.*)\.md/m)
  assert.match(stdout, 'AES-256-GCM')
  assert.equal(await counts(), [1, 1, 1])
})

test('quickstart creates an agent with a tool for the documentation of the installation', async () => {
  const [tool] = await terminal.json<{ id: string; knowledge_source_id: string }[]>(['rag', 'list'])
  const agent = await terminal.json(['agents', 'show', 'Cadre guide'])
  assert.equal(agent.tools, [tool?.id])
  const documents = await terminal.json<{ name: string; status: string }[]>([
    'knowledge',
    'documents',
    'list',
    'Cadre documentation',
    '--all',
  ])
  assert.ok(
    documents.length > 10 && documents.every(({ name, status }) => /^(README\.md|docs\/.*\.md)$/.test(name) && status === 'indexed'),
  )
})

test('a second quickstart creates nothing and prints JSON', async () => {
  const again = await terminal.json<{ answer: string; results: unknown[]; agent: { name: string }; seconds: number }>([
    'quickstart',
    '--quiet',
  ])
  assert.match(again.answer, '[1]')
  assert.equal([again.results.length, again.agent.name], [3, 'Cadre guide'])
  assert.equal(await counts(), [1, 1, 1])
})

test('quickstart adds the tool to an agent that lost it', async () => {
  await terminal.json(['agents', 'update', 'Cadre guide', '--tool', '', '--replace-tools'])
  await terminal.json(['quickstart', '--quiet'])
  assert.is((await terminal.json<{ tools: string[] }>(['agents', 'show', 'Cadre guide'])).tools.length, 1)
})

test('quickstart with a folder creates one agent of that name and shows how to ask it', async () => {
  writeFileSync(join(place, 'leave.md'), '# Leave\n\nEvery employee gets twenty-five days of leave.\n')
  const name = place.split('/').at(-1) as string
  const { code, stderr } = await terminal.run(['quickstart', place])
  assert.is(code, 0, stderr)
  assert.match(stderr, `${name}: 1 document, 1 passage indexed`)
  assert.match(stderr, `cadre ask ${name} "…"`)
  const again = await terminal.json<{ agent: { name: string; tools: string[] }; tool: { id: string } }>(['quickstart', place])
  assert.equal([again.agent.name, again.agent.tools], [name, [again.tool.id]])
  assert.equal(await counts(), [2, 2, 2])
})

test('a second quickstart with a folder reports the existing agent and answers --question', async () => {
  const { code, stdout, stderr } = await terminal.run(['quickstart', place, '--question', 'How many days of leave does an employee get?'])
  assert.is(code, 0, stderr)
  assert.match(stderr, 'no changes')
  assert.match(stderr, 'this existing agent answers from it')
  assert.match(stdout, /^How many days of leave/m)
  assert.match(stdout, /twenty-five days of leave\.” \[1\]/)
  assert.equal(await counts(), [2, 2, 2])
})

test('a folder without readable documents is rejected with the supported types and leaves nothing behind', async () => {
  const kinds: Record<string, Record<string, string>> = {
    empty: {},
    odd: { 'a.bin': 'x' },
    unreadable: { 'blank.md': ' \n', 'odd.md': '\u0000\u0001'.repeat(500) },
  }
  for (const [name, files] of Object.entries(kinds)) {
    const folder = mkdtempSync(join(tmpdir(), `cadre-${name}-`))
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
    const { code, stderr } = await terminal.run(['quickstart', folder])
    rmSync(folder, { recursive: true })
    assert.is(code, 2, stderr)
    assert.match(stderr, /Error: .* has no readable documents/)
    assert.match(stderr, 'Supported file types: pdf, docx, md')
  }
  assert.is((await terminal.run(['quickstart', join(place, 'nothing')])).code, 2)
  assert.is((await terminal.run(['quickstart', join(place, 'leave.md')])).code, 2)
  assert.match(
    (await terminal.run(['quickstart', '--question', ' '])).stderr,
    'There is no question.\nFor example: cadre quickstart --question "',
  )
  assert.equal(await counts(), [2, 2, 2])
})

test('quickstart keeps an existing source whose documents can no longer be read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-emptied-'))
  writeFileSync(join(folder, 'a.md'), 'Something.')
  await terminal.json(['quickstart', folder, '--name', 'emptied'])
  writeFileSync(join(folder, 'a.md'), ' ')
  const { code, stderr } = await terminal.run(['quickstart', folder, '--name', 'emptied'])
  rmSync(folder, { recursive: true })
  assert.is(code, 2, stderr)
  assert.equal(await counts(), [3, 3, 3])
  await terminal.json(['agents', 'delete', 'emptied', '--yes'])
  await terminal.json(['knowledge', 'delete', 'emptied', '--yes'])
})

test('a second folder with the same name needs --name', async () => {
  const namesake = join(place, 'other', place.split('/').at(-1) as string)
  mkdirSync(namesake, { recursive: true })
  writeFileSync(join(namesake, 'travel.md'), '# Travel\n\nA hotel may cost 140 euros.\n')
  const refused = await terminal.run(['quickstart', namesake])
  assert.is(refused.code, 2)
  assert.match(refused.stderr, /another name: cadre quickstart \S+ --name \S+-2/)
  const { agent } = await terminal.json<{ agent: { name: string } }>(['quickstart', namesake, '--name', 'second'])
  assert.is(agent.name, 'second')
})

test('npm start runs quickstart, and help lists it first', async () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  assert.is(scripts.start, 'node bin/run.js quickstart')
  const { stdout } = await terminal.run(['--help'])
  assert.match(stdout.split('DESCRIPTION')[0] ?? '', 'cadre quickstart')
  assert.match(stdout, /COMMANDS\n\s+quickstart /)
})

test('the package contains the documentation', async () => {
  // Without dist/, because npm compresses all files, and the models in it take seconds.
  const copy = mkdtempSync(join(tmpdir(), 'cadre-package-'))
  for (const name of ['package.json', 'docs']) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: copy,
    maxBuffer: 64 * 1024 ** 2,
  })
  rmSync(copy, { recursive: true })
  const [pack] = JSON.parse(stdout) as { files: { path: string }[] }[]
  const paths = pack?.files.map(({ path }) => path) ?? []
  for (const file of ['docs/errors.md', 'docs/decisions/0004-secrets.md']) assert.ok(paths.includes(file), file)
})

test.run()
