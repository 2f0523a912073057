import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { zip } from '../document-fixtures.ts'
import { readOutcome } from '../read-fixture.ts'
import { createRow, createWorkbookParts, describeOutcome, loadFixture, OFFICE_FIXTURES, readParts, renameStream } from './fixtures.ts'

const test = suite('hostile office documents')
const MB = 1024 * 1024

for (const name of OFFICE_FIXTURES)
  test(`${name} ends with a reason if it is truncated`, async () => {
    const whole = loadFixture(name)
    for (let tenth = 1; tenth < 10; tenth++) {
      const { reason, notice, text } = await describeOutcome(whole.subarray(0, Math.floor((whole.length * tenth) / 10)), name)
      // What can be read of a text format is kept, with a notice.
      assert.match(reason ?? notice ?? `read: ${text}`, /truncated|damaged/, `${tenth}0 %`)
    }
  })

test('encrypted documents are rejected as such', async () => {
  const doc = loadFixture('rules.doc')
  assert.is(await readOutcome(renameStream(doc, 'WordDocument', 'EncryptedPackage'), 'a.xlsx'), 'The document is password-protected.')
  const header = doc.indexOf(Buffer.from([0xec, 0xa5]))
  const encrypted = Buffer.from(doc)
  encrypted.writeUInt16LE(encrypted.readUInt16LE(header + 10) | 0x100, header + 10)
  assert.is(await readOutcome(encrypted, 'a.doc'), 'The document is password-protected.')
  const manifest = '<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>'
  const odt = zip({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': 'x', 'META-INF/manifest.xml': manifest })
  assert.is(await readOutcome(odt, 'a.odt'), 'The document is password-protected.')
})

test('older and binary formats are rejected with the format to use instead', async () => {
  const doc = loadFixture('rules.doc')
  assert.match(await readOutcome(renameStream(doc, 'WordDocument', 'Workbook'), 'a.xls'), 'Save it as .xlsx.')
  assert.match(await readOutcome(renameStream(doc, 'WordDocument', 'PowerPoint Document'), 'a.ppt'), 'Save it as .pptx.')
  const rels = '<Relationships><Relationship Id="r1" Type="x/officeDocument" Target="xl/workbook.bin"/></Relationships>'
  assert.match(await readOutcome(zip({ '_rels/.rels': rels, 'xl/workbook.bin': 'x' }), 'a.xlsb'), 'Save it as .xlsx.')
  assert.match(
    await readOutcome(zip({ mimetype: 'application/vnd.oasis.opendocument.graphics', 'content.xml': '<x/>' }), 'a.odg'),
    'of the type graphics, which is not supported',
  )
})

test('bombs are rejected in every part that is read', async () => {
  const blank = new Uint8Array(64 * MB)
  for (const part of ['xl/worksheets/sheet1.xml', 'xl/sharedStrings.xml', 'xl/styles.xml'])
    assert.match(await readOutcome(zip(createWorkbookParts([''], { [part]: blank })), 'a.xlsx'), /decompresses to far more/, part)
  for (const kind of ['spreadsheet', 'presentation', 'text'])
    assert.match(
      await readOutcome(zip({ mimetype: `application/vnd.oasis.opendocument.${kind}`, 'content.xml': blank }), 'a.ods'),
      /decompresses to far more/,
      kind,
    )
})

test('repeated cells of a spreadsheet are limited', async () => {
  const row = (columns: number, rows: number) =>
    `<table:table-row table:number-rows-repeated="${rows}"><table:table-cell table:number-columns-repeated="${columns}" ` +
    'office:value-type="string"><text:p>again</text:p></table:table-cell></table:table-row>'
  const content = `<office:body><table:table table:name="a">${row(16_384, 1_048_576).repeat(3)}${row(2, 1)}</table:table></office:body>`
  const parts = await readParts(zip({ mimetype: 'application/vnd.oasis.opendocument.spreadsheet', 'content.xml': content }), 'a.ods')
  assert.ok(parts.join('').length < 10 * MB)
})

test('absurd merged cells and references are harmless', async () => {
  const merged = '<mergeCells><mergeCell ref="A1:XFD1048576"/><mergeCell ref="B2:A1"/><mergeCell ref="ZZZZ1:A1"/></mergeCells>'
  const row = '<row r="99999999999"><c r="ZZZZZZ1"><v>1</v></c><c r="A1"><v>2</v></c><c r="B1" t="s"><v>99</v></c></row>'
  const sheet = `<worksheet><sheetData>${row}</sheetData>${merged}</worksheet>`
  assert.equal(await readParts(zip(createWorkbookParts([''], { 'xl/worksheets/sheet1.xml': sheet })), 'a.xlsx'), ['2'])
})

test('external entities and relationships are neither loaded nor expanded', async () => {
  const entity = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
  const sheet = `${entity}<worksheet><sheetData>${createRow('&e;', 'safe')}</sheetData></worksheet>`
  assert.equal(await readParts(zip(createWorkbookParts([''], { 'xl/worksheets/sheet1.xml': sheet })), 'a.xlsx'), ['&e; | safe'])
  const rels =
    '<Relationships><Relationship Id="r1" Type="x/officeDocument" TargetMode="External" Target="http://127.0.0.1/x"/></Relationships>'
  assert.match(await readOutcome(zip({ '_rels/.rels': rels, 'xl/other': '' }), 'a.xlsx'), 'its main part is missing')
})

test('cycles in a compound file end', async () => {
  const doc = loadFixture('rules.doc')
  const cyclic = Buffer.from(doc)
  // Every entry of the first sector table refers to itself.
  const table = (cyclic.readUInt32LE(76) + 1) * 512
  for (let index = 0; index < 128; index++) cyclic.writeUInt32LE(index, table + index * 4)
  assert.match(await readOutcome(cyclic, 'a.doc'), /damaged/)
  const directory = (doc.readUInt32LE(48) + 1) * 512
  const looped = Buffer.from(doc)
  for (const entry of [1, 2, 3]) looped.writeInt32LE(entry, directory + entry * 128 + 68)
  assert.ok((await readOutcome(looped, 'a.doc')).length > 0)
})

test('damaged bytes of a Word document never fail otherwise than with a reason', async () => {
  const doc = loadFixture('rules.doc')
  for (let offset = 512; offset < doc.length; offset += 97) {
    const damaged = Buffer.from(doc)
    damaged.fill(0xff, offset, offset + 8)
    await describeOutcome(damaged, 'a.doc')
  }
})

test('RTF that is nested deeply or never closed is read or rejected', async () => {
  assert.match(await readOutcome(`{\\rtf1${'{'.repeat(100_000)}text`, 'a.rtf'), 'nested too deeply')
  assert.match(await readOutcome(`{\\rtf1 ${'\\u65'.repeat(100_000)}`, 'a.rtf'), 'read: A')
  assert.match(await readOutcome('{\\rtf1\\bin99999999 ', 'a.rtf'), 'truncated')
})

test('presentations and texts nested 100,000 deep are read', async () => {
  const nested = `${'<text:list><text:list-item>'.repeat(100_000)}<text:p>Inside.</text:p>`
  assert.match(await readOutcome(zip({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': nested }), 'a.odt'), 'Inside.')
})

test.run()
