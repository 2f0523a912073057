import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { docx, epub, paragraph, zip } from './document-fixtures.ts'
import { read, readOutcome } from './read-fixture.ts'

const test = suite('Word documents and e-books')

const STYLES = {
  'word/styles.xml':
    '<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>' +
    '<w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="H1"/></w:style>' +
    '<w:style w:styleId="Bullets"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>',
  'word/numbering.xml':
    '<w:numbering><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>' +
    '<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>' +
    '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num></w:numbering>',
}
const numbered = (id: number, level = 0) => `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${id}"/></w:numPr>`

test('Word headings are recognized by style, base style or outline level', async () => {
  const body =
    paragraph('First', '<w:pStyle w:val="H1"/>') +
    paragraph('Text.') +
    paragraph('Second', '<w:pStyle w:val="Own"/>') +
    paragraph('Third', '<w:outlineLvl w:val="2"/>')
  const { text, title, format } = await read(docx(body, STYLES), 'a.docx')
  assert.is(text, '# First\n\nText.\n\n# Second\n\n### Third')
  assert.is(title, 'First')
  assert.is(format, 'markdown')
})

test('Word lists keep their markers and levels', async () => {
  const body =
    paragraph('one', numbered(1)) +
    paragraph('below', numbered(1, 1)) +
    paragraph('two', '<w:pStyle w:val="Bullets"/>') +
    paragraph('After.') +
    paragraph('first', numbered(2)) +
    paragraph('second', numbered(2))
  assert.is((await read(docx(body, STYLES), 'a.docx')).text, '- one\n  - below\n- two\n\nAfter.\n\n1. first\n2. second')
})

test('Word tables keep their rows, and footnotes follow the text', async () => {
  const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`
  const table = `<w:tbl><w:tr>${cell('Name')}${cell('Days')}</w:tr><w:tr>${cell('Leave')}${cell('25')}</w:tr></w:tbl>`
  const body = `${table}<w:p><w:r><w:t>Ouch</w:t></w:r><w:r><w:footnoteReference w:id="4"/></w:r></w:p>`
  const notes = {
    'word/footnotes.xml':
      '<w:footnotes><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>' +
      `<w:footnote w:id="4">${paragraph('It hurt.')}</w:footnote></w:footnotes>`,
  }
  assert.is((await read(docx(body, notes), 'a.docx')).text, '| Name | Days |\n| --- | --- |\n| Leave | 25 |\n\nOuch[^1]\n\n[^1]: It hurt.')
})

test('deleted and moved text of a Word document is skipped, and alternative content is read once', async () => {
  const body =
    '<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>' +
    '<w:r><w:t>kept</w:t></w:r><mc:AlternateContent><mc:Choice><w:r><w:t> box</w:t></w:r></mc:Choice>' +
    '<mc:Fallback><w:r><w:t> box</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>'
  assert.is((await read(docx(body), 'a.docx')).text, 'kept box')
})

test('custom entities of a Word document are neither expanded nor fetched', async () => {
  const laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
  const document = docx('', { 'word/document.xml': `${laughs}<w:document><w:body>${paragraph('Said &b; and &c;')}</w:body></w:document>` })
  assert.is((await read(document, 'a.docx')).text, 'Said &b; and &c;')
})

test('e-book chapters are in spine order and take missing headings from the table of contents', async () => {
  const { text, title } = await read(
    epub({ two: '<p>Second by name, first by place.</p>', one: '<h1>Named</h1><p>Then this.</p>' }),
    'a.epub',
  )
  assert.is(text, '# Chapter two\n\nSecond by name, first by place.\n\n# Named\n\nThen this.')
  assert.is(title, 'A Book')
})

test('an e-book with DRM reports it', async () => {
  const encryption = {
    'META-INF/encryption.xml':
      '<encryption><enc:EncryptedData><enc:CipherReference URI="OEBPS/one.xhtml"/></enc:EncryptedData></encryption>',
  }
  assert.is(await readOutcome(epub({ one: 'x' }, encryption), 'a.epub'), 'The e-book is protected by DRM.')
})

test('a password-protected archive reports it', async () => {
  const archive = Buffer.from(docx(paragraph('x')))
  for (let at = archive.indexOf('PK\x01\x02'); at >= 0; at = archive.indexOf('PK\x01\x02', at + 1)) archive.writeUInt16LE(1, at + 8)
  assert.is(await readOutcome(archive, 'a.docx'), 'The document is password-protected.')
})

test('a truncated, damaged or empty document and another kind of archive report the reason', async () => {
  const whole = docx(paragraph('Some text that is long enough to be packed.'.repeat(20)))
  assert.is(
    await readOutcome(whole.subarray(0, whole.length - 100), 'a.docx'),
    'The document is truncated or damaged: the zip directory at its end is missing.',
  )
  const damaged = Buffer.from(whole)
  const at = damaged.indexOf('word/document.xml') + 'word/document.xml'.length
  damaged.fill(0xff, at, at + 30)
  assert.match(await readOutcome(damaged, 'a.docx'), /^The document is damaged: part word\/document\.xml cannot be decompressed\.$/)
  assert.is(await readOutcome(docx('<w:p/>'), 'a.docx'), 'The document is empty.')
  assert.is(await readOutcome(zip({ 'holiday.txt': 'x' }), 'a.docx'), 'This is a zip archive, not a document.')
})

test.run()
