import { deflateSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ParserPool } from '../../../daemon/knowledge/sync/parser-pool.ts'
import { FakeClock } from '../../webhooks/fake-clock.ts'
import { createInput, DISCARD } from '../sync/parser-input.ts'
import { createPdf, docx, paragraph, zip } from './document-fixtures.ts'
import { read, readOutcome } from './read-fixture.ts'

const test = suite('hostile documents')
const DEEP = 30_000
const MB = 1024 * 1024

test('a zip bomb is rejected', async () => {
  const bomb = zip({ 'word/document.xml': new Uint8Array(64 * MB) })
  assert.ok(bomb.length < MB)
  assert.match(await readOutcome(bomb, 'a.docx'), /decompresses to far more than its size allows/)
})

test('a zip bomb with a false size in its directory is rejected', async () => {
  const bomb = Buffer.from(zip({ 'word/document.xml': new Uint8Array(64 * MB) }))
  const directory = bomb.indexOf('PK\x01\x02')
  bomb.writeUInt32LE(10, directory + 24)
  assert.match(await readOutcome(bomb, 'a.docx'), /decompresses to far more than its size allows/)
})

test('the size limit of an archive counts every part that is read', async () => {
  const chapter = new Uint8Array(9 * MB).fill(0x61)
  const parts = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`OEBPS/${index}.xhtml`, chapter]))
  const items = Array.from({ length: 30 }, (_, index) => `<item id="i${index}" href="${index}.xhtml"/>`).join('')
  const spine = Array.from({ length: 30 }, (_, index) => `<itemref idref="i${index}"/>`).join('')
  const book = zip({
    'META-INF/container.xml': '<container><rootfile full-path="OEBPS/b.opf"/></container>',
    'OEBPS/b.opf': `<package><manifest>${items}</manifest><spine>${spine}</spine></package>`,
    ...parts,
  })
  assert.match(await readOutcome(book, 'a.epub'), /decompresses to far more than its size allows/)
})

test('a zip with too many parts is rejected', async () => {
  const parts = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`word/${index}`, '']))
  assert.match(await readOutcome(zip(parts), 'a.docx'), /has 10001 parts/)
})

test('part names with path traversal have no effect', async () => {
  const document = docx(paragraph('Still read.'), { '../../../../tmp/cadre-escape': 'x', '/etc/passwd': 'x' })
  assert.is((await read(document, 'a.docx')).text, 'Still read.')
})

test('custom entities of a page are not expanded', async () => {
  const entities = Array.from({ length: 10 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`).join('')
  assert.is((await read(`<html><!DOCTYPE lolz [${entities}]><body>&l10;</body></html>`, 'a.html')).text, '&l10;')
})

test(`elements, lists and values nested ${DEEP} deep are read`, async () => {
  for (const tag of ['div', 'ul><li', 'blockquote', 'table><tr><td', 'b', 'p']) {
    const { text } = await read(`<html><body><p>Before.</p>${`<${tag}>`.repeat(DEEP)}<p>After.</p>`, 'a.html')
    assert.match(text, /Before\.[\s\S]*After\./)
  }
  assert.match((await read(`${'['.repeat(DEEP)}"inside"${']'.repeat(DEEP)}`, 'a.json')).text, 'inside')
  assert.match((await read(`${'{"a":'.repeat(DEEP)}"inside"${'}'.repeat(DEEP)}`, 'a.json')).text, 'inside')
  assert.match((await read(docx('<w:sdt>'.repeat(DEEP) + paragraph('Inside.')), 'a.docx')).text, 'Inside.')
  assert.match((await read(`${'> '.repeat(DEEP)}quoted`, 'a.md')).text, 'quoted')
})

const MARKUP = [
  '<',
  '<a ',
  '<a href="',
  "<a b='",
  '<!--',
  '<![CDATA[',
  '</',
  '&',
  '&#',
  '&amp',
  '<p>',
  '<li>',
  '<td>',
  '<!doctype [',
  '<?',
  '<script>',
  '<title>',
  'a=b ',
  '"',
  '<table>',
]
const MARKS = ['"', '",', '\\', '{', '[1,', '#', '# ', '---\n', '`', '=', '=\n', '| --- |']

test('50,000 characters of repetitive malformed input are read by every text reader', async () => {
  for (const attack of MARKUP) await readOutcome(`<html>${attack.repeat(50_000 / attack.length)}`, 'a.html')
  for (const attack of MARKS)
    for (const name of ['a.csv', 'a.json', 'a.md', 'a.rst', 'a.txt']) await readOutcome(attack.repeat(50_000 / attack.length), name)
})

test('text files with two megabytes on one line are read', async () => {
  const line = 'word '.repeat((2 * MB) / 5)
  for (const name of ['a.txt', 'a.md', 'a.csv', 'a.json', 'a.html', 'a.js']) assert.ok((await read(line, name)).text.length > 2 * MB - 10)
})

test('a PDF bomb is rejected with any filter', async () => {
  const page = Buffer.alloc(200 * MB, ' ')
  const bomb = createPdf([Buffer.from('')], { filter: '[/FlateDecode /FlateDecode]', pack: () => deflateSync(deflateSync(page)) })
  assert.ok(bomb.length < MB)
  const reading = new ParserPool({ clock: new FakeClock() })
  try {
    await reading.parse(createInput(bomb, 'a.pdf'), [{ size: 800, overlap: 0 }], DISCARD)
    assert.unreachable()
  } catch (error) {
    // Its arrays or the memory of the process reach their limit first.
    assert.match((error as Error).message, /decompresses to far more than its size allows|needed more memory than/)
  } finally {
    await reading.close()
  }
})

test.run()
