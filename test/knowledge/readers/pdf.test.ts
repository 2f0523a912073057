import { deflateSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createPdf, pdf } from './document-fixtures.ts'
import { read, readOutcome } from './read-fixture.ts'

const test = suite('PDF files')

test('PDF lines are joined to paragraphs without hyphenation', async () => {
  const { text, format } = await read(
    pdf([
      [
        { text: 'Every employee gets twenty-five days of paid an-', y: 700 },
        { text: 'nual leave. It can be taken at any', y: 686 },
        { text: 'time of the year.', y: 672 },
        { text: 'Another paragraph starts here.', y: 640 },
      ],
    ]),
    'leave.pdf',
  )
  assert.is(format, 'markdown')
  assert.is(
    text,
    'Every employee gets twenty-five days of paid annual leave. It can be taken at any time of the year.\n\nAnother paragraph starts here.',
  )
})

test('each PDF page has its offset in the text', async () => {
  const { text, pages } = await read(pdf(['one', 'two', 'three'].map((word) => [{ text: `This is page ${word}.`, y: 700 }])), 'pages.pdf')
  assert.equal(
    pages.map(({ number, start }) => [number, text.slice(start).split('\n')[0]]),
    [
      [1, 'This is page one.'],
      [2, 'This is page two.'],
      [3, 'This is page three.'],
    ],
  )
})

test('larger PDF lines are headings, and the first one is the default title', async () => {
  const { text, title } = await read(
    pdf([
      [
        { text: 'The Handbook', size: 24, y: 740 },
        { text: 'Leave', size: 16, y: 700 },
        { text: 'Twenty-five days of leave are given to everyone who works here.', y: 680 },
      ],
    ]),
    'handbook.pdf',
  )
  assert.is(text, '# The Handbook\n\n## Leave\n\nTwenty-five days of leave are given to everyone who works here.')
  assert.is(title, 'The Handbook')
})

test('the title of a PDF comes from its metadata, unless it is a file name', async () => {
  const pages = [[{ text: 'Some text.', y: 700 }]]
  assert.is((await read(pdf(pages, { title: 'Annual report' }), 'a.pdf')).title, 'Annual report')
  assert.is((await read(pdf(pages, { title: 'Microsoft Word - Document1' }), 'a.pdf')).title, null)
  assert.is((await read(pdf(pages, { title: 'scan.jpg' }), 'a.pdf')).title, null)
})

test('repeated headers and footers of a PDF are removed', async () => {
  const page = (number: number) => [
    { text: 'Company confidential', y: 770 },
    { text: `What page ${number} alone has to say, at some length and in the middle.`, y: 600 },
    { text: `Page ${number} of 4`, y: 30 },
  ]
  const { text } = await read(pdf([1, 2, 3, 4].map(page)), 'report.pdf')
  assert.is(text.split('\n\n').length, 4)
  assert.not.match(text, /confidential|of 4/)
  assert.match(text, 'What page 3 alone has to say')
})

test('a password-protected PDF reports it', async () => {
  assert.is(await readOutcome(pdf([[{ text: 'secret', y: 700 }]], { encrypted: true }), 'a.pdf'), 'The PDF is password-protected.')
})

test('a PDF without text is reported as blank, or as a scan if it has images', async () => {
  assert.is(await readOutcome(pdf([[]]), 'blank.pdf'), 'The PDF has no text; its pages seem to be blank.')
  const scan = Buffer.from('q 1 0 0 1 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q')
  const marked = Buffer.concat([createPdf([scan]), Buffer.from('% << /Type /XObject /Subtype /Image >>')])
  assert.match(await readOutcome(marked, 'scan.pdf'), /^The PDF has no text; it seems to be a scan\./)
})

test('a damaged or truncated PDF reports it', async () => {
  assert.match(await readOutcome('%PDF-1.7\nnothing of a PDF follows', 'a.pdf'), /^The PDF is damaged: /)
  const whole = pdf([[{ text: 'x', y: 700 }]])
  assert.match(await readOutcome(whole.subarray(0, 60), 'a.pdf'), /^The PDF is damaged: /)
})

test('a PDF is recognized by its content, not by its name', async () => {
  assert.is((await read(pdf([[{ text: 'Told by its content.', y: 700 }]]), 'notes.txt')).text, 'Told by its content.')
  const late = Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), pdf([[{ text: 'Behind a few lines.', y: 700 }]])])
  assert.match((await readOutcome(late, 'a.pdf')).slice(0, 40), /Behind a few lines|The PDF/)
})

test('a text that mentions the PDF header is read as text', async () => {
  assert.match((await read('# PDFs\n\nThey begin with %PDF-1.7 and a line end.\n', 'pdfs.md')).text, 'They begin with %PDF-1.7')
})

test('compressed PDF pages are decompressed', async () => {
  const packed = pdf([[{ text: 'Packed twice.', y: 700 }]], {
    filter: '[/FlateDecode /FlateDecode]',
    pack: (content) => deflateSync(deflateSync(content)),
  })
  assert.is((await read(packed, 'a.pdf')).text, 'Packed twice.')
})

test.run()
