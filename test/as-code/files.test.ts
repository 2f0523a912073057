import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { resolveSecrets } from '../../src/cli/as-code/resolve-secrets.ts'
import { listResourceFiles, readResourceFile } from '../../src/cli/as-code/resource-files.ts'
import { formatResource, parseResource } from '../../src/cli/as-code/resource-yaml.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'

const test = suite<{ folder: string }>('as code: files')
test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'cadre-files-'))
})
test.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }))

function put(folder: string, file: string, text: string | Buffer = 'name: x\n'): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

/** Returns the error message and the hint. */
async function refusal(work: () => Promise<unknown>): Promise<string> {
  try {
    await work()
  } catch (error) {
    assert.instance(error, UsageError)
    return `${(error as UsageError).message} ${(error as UsageError).hint ?? ''}`
  }
  throw new Error('it was not refused')
}
const unreadable = (text: string) => refusal(() => parseResource(text, 'agents/a.yaml'))

test('any text or key survives writing and reading', async () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(...'\n\r\t :#-|>"\'\\{}[]&*!%@`?,.~0\u0000\u001b\u0085\u2028\u202e\ufeff'),
      fc.string({ unit: 'grapheme', maxLength: 1 }),
    ),
  })
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(text, { maxLength: 3 }),
    fc.dictionary(text, text, { maxKeys: 3 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.dictionary(text, value, { minKeys: 1, maxKeys: 4 }), async (fields) => {
      const written = await formatResource(fields)
      assert.is(JSON.stringify(await parseResource(written, 'x')), JSON.stringify(fields))
      assert.not.match(written, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\ufeff]/)
    }),
    { numRuns: 300, seed: 6 },
  )
})

test('invalid YAML is reported with its line and a hint', async () => {
  assert.match(
    await unreadable('name: a\ntemperature: 0.2: 3\n'),
    /^agents\/a\.yaml, line 2: nested mappings.*: temperature: 0\.2: 3 Fix that line/,
  )
  assert.match(await unreadable('name: a\nname: b\n'), /line 2: map keys must be unique: name: b/)
  assert.match(await unreadable('name: a\n---\nname: b\n'), /line 2: another document starts here.*Use one file per resource\./)
  assert.match(await unreadable('name: !!js/function x\n'), /line 1: unresolved tag/i)
  assert.match(await unreadable('\tname: a\n'), /line 1: tabs/)
  for (const empty of ['', '# only words\n', '- a\n', 'text\n', 'null\n']) assert.match(await unreadable(empty), 'contains no fields')
})

test('aliases and deep nesting are rejected early', async () => {
  const level = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(`*${of}`).join(', ')}]\n`
  const bomb = `a: &a [x]\n${[...'bcdefghi'].map((name, at) => level(name, 'abcdefgh'[at] as string)).join('')}`
  assert.match(await unreadable(bomb), /line 2: aliases are not supported.*Replace \*name by its value\./)
  assert.match(await unreadable('a: &a [*a]\n'), 'aliases are not supported')
  assert.match(await unreadable(`a: ${'['.repeat(20_000)}`), /agents\/a\.yaml/)
})

test('files are found below the folders of families; hidden and other files are ignored', async ({ folder }) => {
  for (const file of [
    'agents/a.yaml',
    'agents/team/b.yml',
    'models/C.YAML',
    'settings.yaml',
    'README.md',
    '.github/ci.yaml',
    'agents/.draft.yaml',
    'agents/notes.txt',
    'node_modules/x/y.yaml',
  ])
    put(folder, file)
  assert.equal(await listResourceFiles(folder), [
    { file: 'agents/a.yaml', family: 'agents' },
    { file: 'agents/team/b.yml', family: 'agents' },
    { file: 'models/C.YAML', family: 'models' },
    { file: 'settings.yaml', family: 'settings' },
  ])
})

test('a file outside the folders of families is an error', async ({ folder }) => {
  put(folder, 'agnets/a.yaml')
  assert.match(await refusal(() => listResourceFiles(folder)), 'agnets/a.yaml is not in the folder of a family. Did you mean agents/?')
  rmSync(join(folder, 'agnets'), { recursive: true })
  put(folder, 'agents.yaml')
  assert.match(await refusal(() => listResourceFiles(folder)), /agents\.yaml is not in the folder of a family\. Valid folders: models,/)
  const missing = await refusal(() => listResourceFiles(join(folder, 'nowhere')))
  assert.match(missing, /Folder not found: .*nowhere\. To create one: cadre export --to/)
  assert.match(await refusal(() => listResourceFiles(join(folder, 'agents.yaml'))), 'is not a folder')
})

test('links to files inside the folder are followed, others are rejected', async ({ folder }) => {
  put(folder, 'agents/a.yaml')
  symlinkSync(join(folder, 'agents', 'a.yaml'), join(folder, 'agents', 'b.yaml'))
  assert.is((await listResourceFiles(folder)).length, 2)
  symlinkSync('/etc/hostname', join(folder, 'agents', 'c.yaml'))
  assert.match(await refusal(() => listResourceFiles(folder)), 'agents/c.yaml is a link to a target outside the folder')
  rmSync(join(folder, 'agents', 'c.yaml'))
  symlinkSync(folder, join(folder, 'models'))
  assert.match(await refusal(() => listResourceFiles(folder)), 'models is a link to a folder')
})

test('files that are too large or not UTF-8 are rejected', async ({ folder }) => {
  put(folder, 'agents/a.yaml', Buffer.alloc(32_000_001, 'x'))
  assert.match(await refusal(() => readResourceFile(folder, 'agents/a.yaml')), 'agents/a.yaml is larger than 32.0 MB')
  put(folder, 'agents/b.yaml', Buffer.from([0x6e, 0xff, 0xfe]))
  assert.match(await refusal(() => readResourceFile(folder, 'agents/b.yaml')), 'is not UTF-8 text')
})

test('references to variables are resolved in secret fields only, also within a text', async () => {
  const variable = (name: string) => ({ A: 'one', B: '${env:A}' })[name]
  const resolved = (fields: Record<string, unknown>) => resolveSecrets('api-tools', fields, 'f', variable)
  assert.equal(resolved({ headers: { x: 'Bearer ${env:A}', y: '${env:B}', z: '${env:C}-${env:A}' }, description: '${env:A}' }), {
    headers: { x: 'Bearer one', y: '${env:A}', z: { env: 'C' } },
    description: '${env:A}',
  })
  assert.match(
    await refusal(async () => resolved({ auth: { type: 'bearer', token: '${env:not-a-name}' } })),
    'f: auth.token has an invalid reference. Use ${env:NAME}',
  )
})

test.run()
