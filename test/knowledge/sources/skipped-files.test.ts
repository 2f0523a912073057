import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { listFolderDocuments as listDocuments, listFolderNames as names, writeFiles } from './source-fixtures.ts'

const test = suite<{ root: string }>('skipped files')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-folder-'))
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

test('files of other types are skipped with a reason, but not clutter, and not if file types are configured', async ({ root }) => {
  writeFiles(root, {
    'a.md': '',
    'photos/b.HEIC': '',
    'c.mp3': '',
    Makefile: '',
    '~$a.docx': '',
    'Thumbs.db': '',
    '.DS_Store': '',
    'a.md~': '',
  })
  const listSkipped = async (configuration?: Record<string, unknown>) =>
    (await listDocuments(root, configuration)).flatMap(({ name, skipReason }) =>
      skipReason === undefined ? [] : [`${name}: ${skipReason}`],
    )
  assert.equal(await listSkipped(), [
    'Makefile: Files without an extension are not read.',
    'c.mp3: Files of type .mp3 are not supported.',
    'photos/b.HEIC: HEIC images are not supported. Convert it to JPEG.',
  ])
  assert.equal(await listSkipped({ exclude: ['photos'], include: ['*.*'] }), ['c.mp3: Files of type .mp3 are not supported.'])
  assert.equal(await listSkipped({ file_types: ['md'] }), [])
  writeFiles(root, { 'photos/d.png': '' })
  assert.equal(await listSkipped({ include: ['photos'], ocr: false }), [
    'photos/b.HEIC: HEIC images are not supported. Convert it to JPEG.',
    'photos/d.png: Text recognition is off for this source (--no-ocr).',
  ])
})

test('a glob that names a type includes it', async ({ root }) => {
  writeFiles(root, { 'a.md': '', 'b.log': '', 'deep/c.1': '', 'd.mp3': '' })
  assert.equal(await names(root, { include: ['*.log', 'deep/*.{1,md}'] }), ['b.log', 'deep/c.1'])
  assert.equal(await names(root, { include: ['*.log'], file_types: ['md'] }), [])
})

test.run()
