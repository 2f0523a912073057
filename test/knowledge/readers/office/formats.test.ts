import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generatePassages } from '../../../../daemon/knowledge/chunking/chunk-document.ts'
import { readPieces } from '../../../../daemon/knowledge/readers/doc/pieces.ts'
import { zip } from '../document-fixtures.ts'
import { read } from '../read-fixture.ts'
import { createRelationships, createRow, createWorkbookParts, loadFixture, readParts } from './fixtures.ts'

const test = suite('office formats')

const BUDGET = `Budget of the Hamburg office, 2026

Approved by the board in December

Department: Facilities
Item: Rent
Cost: 48,500.00 €
Share: 42.5%
Due: 31.03.2026
Total with tax: 57,715.00 €
Comment on Cost: Includes heating since May.

Department: Facilities
Item: Cleaning
Cost: 6,200.50 €
Share: 5.4%
Due: 30.06.2026
Total with tax: 7,378.60 €

Department: IT
Item: Laptops
Cost: 21,999.99 €
Share: 19.3%
Due: 15.09.2026
Total with tax: 26,179.99 €

Contact: Grace Hopper
Extension: 4711
Office: Room B12

Contact: Alan Turing
Extension: 4712
Office: Room B14`
const SALARIES = 'Name: Grace Hopper\nMonthly salary: 7,250.00 €\n\nName: Alan Turing\nMonthly salary: 6,900.00 €'
const QUARTERS =
  'Region: North\nQ1 Plan: 120\nQ1 Actual: 131\nQ2 Plan: 140\nQ2 Actual: 125\n\n' +
  'Region: South\nQ1 Plan: 80\nQ1 Actual: 77\nQ2 Plan: 95\nQ2 Actual: 101'

for (const name of ['budget.xlsx', 'budget.xlsm', 'budget.ods'])
  test(`${name}: rows have the names of their columns, values as a person sees them, merged cells and comments`, async () => {
    assert.equal(await readParts(loadFixture(name), name), [BUDGET, SALARIES, QUARTERS])
    const { places, title, format } = await read(loadFixture(name), name)
    assert.equal(places, { kind: 'sheet', names: ['Budget', 'Salaries (hidden)', 'Quarters'] })
    assert.equal([title, format], ['Budget of the Hamburg office', 'table'])
  })

const SLIDES = `## Expansion to Portugal

- Prepared for the board
- Spring 2026

### Speaker notes

Welcome everyone and introduce the team.

## Stores by city

- Lisbon leads
- Porto follows

| City | Stores |
| --- | --- |
| Lisbon | 14 |
| Porto | 9 |

## Risks

- The lease in Porto ends in August
- Two suppliers are single sources

### Speaker notes

Mention that the insurance covers 80 percent of a delay.`

for (const name of ['expansion.pptx', 'expansion.odp'])
  test(`${name}: slides have titles, text, tables and notes`, async () => {
    const { text, pages, places, title } = await read(loadFixture(name), name)
    assert.is(text, SLIDES)
    assert.equal(places, { kind: 'slide' })
    assert.is(title, 'Expansion to Portugal')
    assert.equal(
      pages.map(({ number, start }) => [number, text.slice(start).split('\n', 1)[0]]),
      [
        [1, '## Expansion to Portugal'],
        [2, '## Stores by city'],
        [3, '## Risks'],
      ],
    )
  })

const RULES = `# House rules

Everyone who lives in the building follows these rules.

## Quiet hours

Quiet hours are from 22:00 to 06:00[^1]. The café on the ground floor closes at 21:30.

- No drilling on Sundays
- No parties in the yard

# Waste

Bins are emptied as follows:

| Bin | Day |
| --- | --- |
| Paper | Tuesday |
| Glass | Friday |

To report a full bin:

1. Call the caretaker
2. Name the entrance

Fees are due in Straße 5, Zürich – 12 € per month.

[^1]: On New Year’s Eve they start at 02:00.`

for (const name of ['rules.odt', 'rules.rtf', 'rules.doc'])
  test(`${name}: headings, lists, tables, footnotes and pages are kept`, async () => {
    const { text, pages, title } = await read(loadFixture(name), name)
    assert.is(text, RULES)
    assert.equal(pages, [
      { number: 1, start: 0 },
      { number: 2, start: RULES.indexOf('# Waste') },
    ])
    assert.is(title, 'House rules')
  })

test('a document that was HTML has its heading and no page before the first', async () => {
  const content =
    '<office:automatic-styles><style:style style:name="P1" style:parent-style-name="Heading_20_1" style:master-page-name="HTML"/>' +
    '</office:automatic-styles><office:text><text:p text:style-name="P1">Minutes</text:p><text:p>The pump is new.</text:p></office:text>'
  const styles = '<style:style style:name="Heading_20_1" style:parent-style-name="Heading"/>'
  const odt = zip({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': content, 'styles.xml': styles })
  const { text, pages } = await read(odt, 'minutes.odt')
  assert.equal([text, pages], ['# Minutes\n\nThe pump is new.', []])
})

test('a passage is from one sheet, and its name is a heading', async () => {
  const passages = [...generatePassages(await read(loadFixture('budget.xlsx'), 'budget.xlsx'), { size: 5_000, overlap: 0 }, 'budget.xlsx')]
  assert.equal(
    passages.map(({ page, headings }) => [page, headings]),
    [
      [1, ['budget.xlsx', 'Budget']],
      [2, ['budget.xlsx', 'Salaries (hidden)']],
      [3, ['budget.xlsx', 'Quarters']],
    ],
  )
})

test('a document with another extension is read by its content', async () => {
  assert.match((await read(loadFixture('budget.xlsx'), 'budget.csv')).text, 'Item: Rent')
  assert.match((await read(loadFixture('rules.doc'), 'rules.docx')).text, '# House rules')
  assert.match((await read(loadFixture('rules.rtf'), 'rules.doc')).text, '# House rules')
})

test('macros, charts and formulas without a result are mentioned once', async () => {
  const rows = `${createRow('Item', 'Price')}<row><c t="inlineStr"><is><t>Desk</t></is></c><c><f>1+1</f></c><c><f>1+2</f></c></row>`
  const { notice } = await read(zip(createWorkbookParts([rows], { 'xl/vbaProject.bin': 'x', 'xl/charts/chart1.xml': 'x' })), 'a.xlsm')
  assert.is(
    notice,
    'Macros and charts were not read. ' +
      'Formulas without a stored result were not read: open the workbook in a spreadsheet program and save it.',
  )
})

test('a large sheet is read in parts, each of which names the columns', async () => {
  const rows = Array.from({ length: 30_000 }, (_, index) => createRow(`Customer ${index}`, index, 'Delivered to the back door')).join('')
  const workbook = zip(
    createWorkbookParts([createRow('Customer', 'Order', 'Note') + rows, createRow('Other', 'Sheet') + createRow('b', 1)]),
  )
  const parts = await readParts(workbook, 'orders.xlsx')
  assert.ok(parts.length >= 3)
  for (const part of parts.slice(0, -1)) assert.match(part, /^Customer: Customer \d+\nOrder: \d+\nNote: Delivered/)
  assert.match(parts.join('\n\n'), 'Customer: Customer 29999\nOrder: 29999\n')
  assert.is(parts.at(-1), 'Other: b\nSheet: 1')
})

test('elements with a namespace prefix and rows without references are read', async () => {
  const sheet =
    '<x:worksheet><x:sheetData><x:row r="1"><x:c r="A1" t="str"><x:v>Name</x:v></x:c>' +
    '<x:c r="C1" t="str"><x:v>Age &amp; more</x:v></x:c></x:row>' +
    '<x:row r="2"><x:c r="A2" t="str"><x:v>Ada</x:v></x:c><x:c r="C2" t="b"><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>'
  const parts = await readParts(zip(createWorkbookParts([''], { 'xl/worksheets/sheet1.xml': sheet })), 'a.xlsx')
  assert.equal(parts, ['Name: Ada\nAge & more: TRUE'])
})

test('tables without a header, forms and notes below a table are read as lines', async () => {
  const form = createRow('Name:', 'Ada') + createRow('Phone:', 4711) + createRow('City:', 'London')
  const numbers = createRow(1, 2, 3) + createRow(4, 5, 6)
  const noted = createRow('Item', 'Price', 'Stock') + createRow('Desk', 10, 3) + createRow('Prices without tax')
  const parts = await readParts(zip(createWorkbookParts([form, numbers, noted])), 'a.xlsx')
  assert.equal(parts, [
    'Name: Ada\n\nPhone: 4711\n\nCity: London',
    '1 | 2 | 3\n\n4 | 5 | 6',
    'Item: Desk\nPrice: 10\nStock: 3\n\nPrices without tax',
  ])
})

test('a slide without a title placeholder is named after its first text, or numbered', async () => {
  const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`
  const slide = (...shapes: string[][]) =>
    `<p:sld>${shapes.map((texts) => `<p:sp>${texts.map(paragraph).join('')}</p:sp>`).join('')}</p:sld>`
  const deck = zip({
    '_rels/.rels': createRelationships({ 'ppt/presentation.xml': 'officeDocument' }),
    'ppt/presentation.xml': '<p:presentation><p:sldIdLst><p:sldId r:id="r2"/><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels': createRelationships({ 'slides/slide1.xml': 'slide', 'slides/slide2.xml': 'slide' }),
    'ppt/slides/slide1.xml': slide(['one', 'two']),
    'ppt/slides/slide2.xml': slide(['Agenda'], ['Welcome']),
  })
  assert.is((await read(deck, 'a.pptx')).text, '## Agenda\n\nWelcome\n\n## Slide 2\n\none\n\ntwo')
})

test('the characters of a Word document that have one byte are those of Windows-1252', () => {
  const text = Buffer.from([0x93, 0x80, 0x20, 0x35, 0x94])
  const table = Buffer.alloc(5 + 16)
  table.writeUInt8(2)
  table.writeUInt32LE(16, 1)
  table.writeUInt32LE(text.length, 9) // the piece begins at 0 and ends here
  table.writeUInt32LE(0x40000000, 15) // one byte per character, from the start of the stream
  const pieces = readPieces(text, table)
  assert.is(pieces.slice(0, pieces.length), '“€ 5”')
})

test('RTF text is decoded by its code page, its fonts and as Unicode', async () => {
  const source =
    '{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204 Arial;}}' +
    "\\f0 Stra\\'dfe \\'80 5 \\'93quoted\\'94 {\\f1\\'cf\\'f0\\'e8\\'e2\\'e5\\'f2} " +
    '\\u26085?\\u26412? \\emdash  {\\*\\unknown hidden}{\\v hidden}done\\par}'
  assert.is((await read(source, 'a.rtf')).text, 'Straße € 5 “quoted” Привет 日本 — done')
})

test('RTF in which Outlook wrapped a page has the text of the page, without what only replaces its tags', async () => {
  const source =
    "{\\rtf1\\ansi\\fromhtml1{\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 Gr\\'fc\\'dfe{\\*\\htmltag72 </p>}\\htmlrtf\\par hidden}" +
    '\\htmlrtf0 {\\*\\htmltag64 <p>} from Ann\\htmlrtf\\par }\\htmlrtf0}'
  assert.is((await read(source, 'a.rtf')).text, 'Grüße from Ann')
})

test.run()
