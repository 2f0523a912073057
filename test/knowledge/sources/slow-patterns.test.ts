import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectFailure, listFolderNames as names, writeFiles } from './source-fixtures.ts'

const test = suite<{ root: string }>('patterns that would take long')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-patterns-'))
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

test('a glob that is too long is rejected', async ({ root }) => {
  const error = await expectFailure(names(root, { include: ['a'.repeat(1_001)] }))
  assert.is(error.code, 'VALIDATION_ERROR')
})

test('rules of a .gitignore that could take forever are skipped', async ({ root }) => {
  const name = `${'a'.repeat(200)}.md`
  writeFiles(root, { '.gitignore': `${'*a'.repeat(20)}b\n${'**/a/'.repeat(20)}b\nskipped.md`, [name]: 'text', 'skipped.md': 'text' })
  assert.equal(await names(root), [name])
})

test('a rule of a .gitignore may match any number of folders twice', async ({ root }) => {
  const rules = '**/a/**/skipped.md\n**/a/**/a/**/kept.md\n'
  writeFiles(root, { '.gitignore': rules, 'a/a/skipped.md': 'text', 'a/a/kept.md': 'text' })
  assert.equal(await names(root), ['a/a/kept.md'])
})

test.run()
