import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findDocuments } from '../../../daemon/knowledge/sources/find-documents.ts'
import type { SourceDocument } from '../../../daemon/knowledge/sources/source-document.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { listNames as names, writeFiles } from './source-fixtures.ts'

const test = suite<{ root: string }>('file and text sources')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-files-'))
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

const signal = new AbortController().signal

async function collectDocuments(
  type: 'file' | 'text',
  configuration: Record<string, unknown>,
): Promise<{ found: SourceDocument[]; error: CadreError | undefined }> {
  const found: SourceDocument[] = []
  try {
    for await (const document of findDocuments(type, { configuration, signal, workDirectory: '/nowhere', outbound: undefined as never }))
      found.push(document)
  } catch (error) {
    assert.instance(error, CadreError)
    return { found, error: error as CadreError }
  }
  return { found, error: undefined }
}

test('listed files and folders are named by the last part of their path, files of any type', async ({ root }) => {
  writeFiles(root, { 'one.md': '1', 'odd.log': '2', 'docs/a.md': '3', 'docs/sub/b.txt': '4', 'docs/song.mp3': '' })
  const { found, error } = await collectDocuments('file', { paths: [join(root, 'one.md'), join(root, 'odd.log'), join(root, 'docs')] })
  assert.is(error, undefined)
  assert.equal(names(found), ['docs/a.md', 'docs/sub/b.txt', 'odd.log', 'one.md'])
  assert.is(Buffer.from((await found[1]?.read(signal)) ?? []).toString(), '2')
})

test('listed paths with the same last part are named by their full path', async ({ root }) => {
  writeFiles(root, { 'x/readme.md': '', 'y/readme.md': '', 'z.md': '' })
  const { found } = await collectDocuments('file', { paths: [join(root, 'x/readme.md'), join(root, 'y/readme.md'), join(root, 'z.md')] })
  assert.equal(names(found), [`${root.slice(1)}/x/readme.md`, `${root.slice(1)}/y/readme.md`, 'z.md'].sort())
})

test('a file that is listed twice is found once', async ({ root }) => {
  writeFiles(root, { 'docs/a.md': '', 'docs/sub/b.md': '' })
  const { found } = await collectDocuments('file', {
    paths: [join(root, 'docs'), join(root, 'docs/sub'), join(root, 'docs/a.md'), join(root, 'docs/../docs/a.md')],
  })
  assert.equal(names(found), ['a.md', 'sub/b.md'].sort())
})

test('a listed file of an excluded type has a problem', async ({ root }) => {
  writeFiles(root, { 'a.log': '' })
  const { found } = await collectDocuments('file', { paths: [join(root, 'a.log')], file_types: ['md'] })
  assert.match(found[0]?.problem ?? '', 'reads md files only')
})

test('a missing path is an error after the other paths have been read', async ({ root }) => {
  writeFiles(root, { 'a.md': '' })
  const { found, error } = await collectDocuments('file', { paths: [join(root, 'missing.md'), join(root, 'a.md')] })
  assert.equal(names(found), ['a.md'])
  assert.is(error?.code, 'NOT_FOUND')
  assert.match(error?.message ?? '', 'missing.md')
})

test('a file source without paths has no documents', async () => {
  assert.equal(await collectDocuments('file', {}), { found: [], error: undefined })
})

test('a text source has one document, whose fingerprint changes with its content', async () => {
  const { found } = await collectDocuments('text', { text: 'Grüße' })
  assert.equal(names(found), ['text.md'])
  assert.is(Buffer.from((await found[0]?.read(signal)) ?? []).toString('utf8'), 'Grüße')
  const same = await collectDocuments('text', { text: 'Grüße' })
  const other = await collectDocuments('text', { text: 'Gruß' })
  assert.is(same.found[0]?.fingerprint, found[0]?.fingerprint)
  assert.is.not(other.found[0]?.fingerprint, found[0]?.fingerprint)
})

test.run()
