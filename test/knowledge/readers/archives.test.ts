import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type ExpandedDocument,
  expandContainer,
  MAX_DEPTH,
  type MemberSelection,
} from '../../../daemon/knowledge/readers/containers/expand-container.ts'
import { docx, paragraph, zip } from './document-fixtures.ts'
import { read, readOutcome } from './read-fixture.ts'
import { readSample } from './samples.ts'

const test = suite('archives')
const MB = 1024 * 1024

/** Returns what was read before an error, and its message. */
async function expand(
  bytes: Uint8Array,
  name: string,
  selection: MemberSelection = {},
): Promise<{ documents: ExpandedDocument[]; problem?: string }> {
  const documents: ExpandedDocument[] = []
  try {
    for await (const document of expandContainer(bytes, name, selection)) documents.push(document)
  } catch (error) {
    assert.is((error as Error).name, 'DocumentReadError', String(error))
    return { documents, problem: (error as Error).message }
  }
  return { documents }
}
const listRead = ({ documents }: { documents: ExpandedDocument[] }) =>
  documents
    .filter(({ bytes }) => bytes)
    .map(({ path }) => path)
    .sort()

const LONG = `${'long-folder-name-'.repeat(8)}/a-file-with-a-rather-long-name.txt`

for (const name of ['house.zip', 'house.tar', 'house.tar.gz'])
  test(`the files of ${name} are documents, also those of the archive in it, but neither hidden files nor links`, async () => {
    const expanded = await expand(readSample(name), name)
    assert.is(expanded.problem, undefined)
    assert.equal(listRead(expanded), ['inner.zip', 'inner.zip/key.txt', LONG, 'notes/garden.md', 'notes/wifi.txt', 'photos/a.png'])
    const wifi = expanded.documents.find(({ path }) => path === 'notes/wifi.txt')
    assert.is(Buffer.from(wifi?.bytes ?? []).toString(), 'The wifi password is heron-42.\n')
    const withoutImages = await expand(readSample(name), name, { ocr: false })
    assert.ok(withoutImages.documents.some(({ path, skipReason }) => path === 'photos/a.png' && skipReason !== undefined))
    assert.match((await read(readSample(name), name)).text, /^# house\.\S+\n\n6 files:\n[\s\S]*- notes\/wifi\.txt/)
  })

test('an archive cut at any tenth of its length has a reason; the files before the cut are kept', async () => {
  for (const name of ['house.zip', 'house.tar', 'house.tar.gz']) {
    const whole = readSample(name)
    for (let tenth = 1; tenth < 10; tenth++) {
      const part = whole.slice(0, Math.floor((whole.length * tenth) / 10))
      assert.match((await expand(part, name)).problem ?? '', /truncated or damaged/, `${name} ${tenth}`)
      assert.match(await readOutcome(part, name), /truncated or damaged/)
    }
  }
  const { documents } = await expand(readSample('house.tar').slice(0, 20_000), 'house.tar')
  assert.ok(documents.some(({ path }) => path === 'notes/garden.md'))
})

test('a password-protected archive has a reason', async () => {
  assert.is((await expand(readSample('secret.zip'), 'secret.zip')).problem, 'The archive is password-protected.')
  assert.is(await readOutcome(readSample('secret.zip'), 'secret.zip'), 'The archive is password-protected.')
})

test('names with path traversal become harmless, and equal names are numbered', async () => {
  const bytes = zip({ '../../etc/a.md': 'x', '/etc/b.md': 'y', 'C:\\c.md': 'z', '../etc/a.md': 'w', 'd\u0000\u202e.md': 'v' })
  assert.equal(listRead(await expand(bytes, 'a.zip')), ['C:/c.md', 'd.md', 'etc/a (2).md', 'etc/a.md', 'etc/b.md'])
})

test('a bomb has a reason', async () => {
  const bomb = zip({ 'a.txt': new Uint8Array(64 * MB) })
  assert.match((await expand(bomb, 'a.zip', { max_file_size: 100 * MB })).problem ?? '', 'decompresses to far more')
  const { documents } = await expand(gzipSync(new Uint8Array(64 * MB)), 'a.txt.gz')
  assert.match(documents[0]?.problem ?? '', 'accepts at most')
})

test('archives in archives are read to a limited depth', async () => {
  let bytes = zip({ 'a.txt': 'inside' })
  for (let level = 1; level < MAX_DEPTH + 2; level++) bytes = zip({ 'b.zip': bytes })
  const { documents, problem } = await expand(bytes, 'b.zip')
  assert.is(problem, undefined)
  assert.match(documents.at(-1)?.problem ?? '', `to a depth of ${MAX_DEPTH}`)
})

test('a damaged file in an archive does not affect the others', async () => {
  const bytes = Buffer.from(zip({ 'a.txt': 'first '.repeat(50), 'b.txt': 'second' }))
  bytes.fill(0xff, 35 + 0, 35 + 10)
  const { documents, problem } = await expand(bytes, 'a.zip')
  assert.is(problem, undefined)
  assert.match(documents[0]?.problem ?? '', 'cannot be decompressed')
  assert.is(Buffer.from(documents[1]?.bytes ?? []).toString(), 'second')
})

test('a document with the name of an archive is read as a document, and an archive with another name has a reason', async () => {
  const word = docx(paragraph('Still read.'))
  assert.is((await read(word, 'a.zip')).text, 'Still read.')
  assert.equal((await expand(word, 'a.zip')).documents, [])
  assert.is(await readOutcome('only text', 'a.tar'), 'read: only text')
  assert.match(await readOutcome(zip({ 'a.txt': 'x' }), 'a.md'), 'This is a zip archive')
})

test('a compressed file is one document', async () => {
  const { documents } = await expand(gzipSync('# Rules\n\nNo shoes.'), 'rules.md.gz')
  assert.equal(listRead({ documents }), ['rules.md'])
})

test('only files that the source selects are read', async () => {
  const bytes = zip({ 'a.md': 'x', 'drafts/b.md': 'y', 'c.txt': 'z', 'd.md': 'x'.repeat(100) })
  const expanded = await expand(bytes, 'a.zip', { file_types: ['md'], exclude: ['drafts/**'], max_file_size: 50 })
  assert.equal(listRead(expanded), ['a.md'])
  assert.match(expanded.documents.find(({ path }) => path === 'd.md')?.problem ?? '', 'has 100 bytes; this source accepts at most 50')
})

test.run()
