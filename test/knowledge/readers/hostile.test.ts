/** Documents made to do harm are refused with a reason, or read within limits. */
import { deflateSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ParserPool } from '../../../daemon/knowledge/sync/parser-pool.ts'
import { docx, paragraph, pdfOf, zip } from './fixtures.ts'
import { read, reasonOf } from './reading.ts'

const test = suite('hostile documents')
const DEEP = 100_000
const MB = 1024 * 1024

test('a zip bomb is not unpacked', async () => {
  const bomb = zip({ 'word/document.xml': new Uint8Array(64 * MB) })
  assert.ok(bomb.length < MB)
  assert.match(await reasonOf(bomb, 'a.docx'), /unpacks to far more than its size allows/)
})

test('a zip that lies about its sizes is not believed', async () => {
  const bomb = Buffer.from(zip({ 'word/document.xml': new Uint8Array(64 * MB) }))
  const directory = bomb.indexOf('PK\x01\x02')
  bomb.writeUInt32LE(10, directory + 24)
  assert.match(await reasonOf(bomb, 'a.docx'), /unpacks to far more than its size allows/)
})

test('many parts that unpack to the same bytes count each time', async () => {
  const chapter = new Uint8Array(9 * MB).fill(0x61)
  const parts = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`OEBPS/${index}.xhtml`, chapter]))
  const items = Array.from({ length: 30 }, (_, index) => `<item id="i${index}" href="${index}.xhtml"/>`).join('')
  const spine = Array.from({ length: 30 }, (_, index) => `<itemref idref="i${index}"/>`).join('')
  const book = zip({
    'META-INF/container.xml': '<container><rootfile full-path="OEBPS/b.opf"/></container>',
    'OEBPS/b.opf': `<package><manifest>${items}</manifest><spine>${spine}</spine></package>`,
    ...parts,
  })
  assert.match(await reasonOf(book, 'a.epub'), /unpacks to far more than its size allows/)
})

test('a zip with too many parts is refused', async () => {
  const parts = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`word/${index}`, '']))
  assert.match(await reasonOf(zip(parts), 'a.docx'), /has 10001 parts/)
})

test('parts with names that point elsewhere are only names', async () => {
  const document = docx(paragraph('Still read.'), { '../../../../tmp/cadre-escape': 'x', '/etc/passwd': 'x' })
  assert.is((await read(document, 'a.docx')).text, 'Still read.')
})

test('entities are not expanded in pages either', async () => {
  const laughs = `<!DOCTYPE lolz [${Array.from({ length: 10 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`).join('')}]>`
  assert.is((await read(`<html>${laughs}<body>&l10;</body></html>`, 'a.html')).text, '&l10;')
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

test('patterns that make readers go back and forth cost in proportion to their length', async () => {
  const cost = async (length: number) => {
    const begun = process.cpuUsage()
    for (const attack of MARKUP) await reasonOf(`<html>${attack.repeat(length / attack.length)}`, 'a.html')
    for (const attack of MARKS)
      for (const name of ['a.csv', 'a.json', 'a.md', 'a.rst', 'a.txt']) await reasonOf(attack.repeat(length / attack.length), name)
    return process.cpuUsage(begun).user
  }
  await cost(2_000)
  const [small, large] = [await cost(20_000), await cost(200_000)]
  assert.ok(large < small * 40, `${large / small} times the cost for ten times the length`)
})

test('eight megabytes on one line are read', async () => {
  const line = 'word '.repeat((8 * MB) / 5)
  for (const name of ['a.txt', 'a.md', 'a.csv', 'a.json', 'a.html', 'a.js']) assert.ok((await read(line, name)).text.length > 8 * MB - 10)
})

test('a PDF bomb is stopped, whatever its filters', async () => {
  const page = Buffer.alloc(200 * MB, ' ')
  const bomb = pdfOf([Buffer.from('')], { filter: '[/FlateDecode /FlateDecode]', pack: () => deflateSync(deflateSync(page)) })
  assert.ok(bomb.length < MB)
  const reading = new ParserPool({ threads: 1 })
  try {
    await reading.read(bomb, 'a.pdf')
    assert.unreachable()
  } catch (error) {
    assert.match((error as Error).message, /unpacks to far more than its size allows/)
  } finally {
    await reading.close()
  }
})

test.run()
