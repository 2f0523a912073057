/** The first minute with Cadre: one command, from nothing to an answer with its sources. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { aloud } from '../../harness/hooks.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
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

test('run again it doubles nothing, and gives its data to a script', async () => {
  const again = await terminal.json<{ answer: string; results: unknown[]; agent: { name: string }; seconds: number }>([
    'quickstart',
    '--quiet',
  ])
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
})

test('run again with a folder it says that all is there already, and answers the question that is given', async () => {
  const { code, stdout, stderr } = await terminal.run(['quickstart', place, '--question', 'How many days of leave does an employee get?'])
  assert.is(code, 0, stderr)
  assert.match(stderr, 'nothing changed')
  assert.match(stderr, 'the agent that is there already answers from it')
  assert.match(stdout, /^How many days of leave/m)
  assert.match(stdout, /twenty-five days of leave\.” \[1\]/)
  assert.equal(await counts(), [2, 2, 2])
})

test('a folder with nothing to read is refused with what is read, and leaves nothing behind', async () => {
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
    assert.match(stderr, /Error: There is nothing to (read|answer from) in/)
    assert.match(stderr, 'Documents of these kinds are read: pdf, docx, md')
  }
  assert.is((await terminal.run(['quickstart', join(place, 'nothing')])).code, 2)
  assert.is((await terminal.run(['quickstart', join(place, 'leave.md')])).code, 2)
  assert.match(
    (await terminal.run(['quickstart', '--question', ' '])).stderr,
    'There is no question.\nFor example: cadre quickstart --question "',
  )
  assert.equal(await counts(), [2, 2, 2])
})

test('a source that was there before stays, also when nothing in it can be read any more', async () => {
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
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 ** 2,
  })
  const [pack] = JSON.parse(stdout) as { files: { path: string }[] }[]
  const paths = pack?.files.map(({ path }) => path) ?? []
  for (const file of ['docs/errors.md', 'docs/decisions/0004-secrets.md']) assert.ok(paths.includes(file), file)
})

test.run()
