import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mayHaveTables } from '../../../daemon/knowledge/tables/documents-with-tables.ts'
import { extractTables } from '../../../daemon/knowledge/tables/extract-tables.ts'
import { pdf } from '../readers/document-fixtures.ts'

const test = suite('tables of documents')
const FIXTURES = new URL('../readers/fixtures/', import.meta.url)

async function extract(name: string, content: string | Uint8Array): Promise<[string, readonly string[], (readonly string[])[]][]> {
  const tables = await extractTables(typeof content === 'string' ? Buffer.from(content) : content, name)
  return tables.map(({ caption, header, forEachRow }) => {
    const rows: (readonly string[])[] = []
    forEachRow((row) => rows.push(row))
    return [caption, header, rows]
  })
}

test('tables of a PDF that LibreOffice tagged', async () => {
  const [[, header, rows] = ['', [], []], ...others] = await extract('report.pdf', readFileSync(new URL('inspections.pdf', FIXTURES)))
  assert.equal(others, [])
  assert.equal(header, ['City', 'Contact', 'Visit', 'Inspections', 'Costs', 'Passed'])
  assert.is(rows.length, 5)
  assert.equal(rows[2], ['Dublin', 'Liam Murphy and Hana Sato', '19.04.2025', '21', '3,905.25 €', '100 %'])
})

const COLUMNS = [72, 200, 330]
const createRow = (cells: readonly string[], y: number) => cells.map((text, column) => ({ text, x: COLUMNS[column] as number, y }))

test('texts of a PDF that stand in columns below a header are a table, also on several pages', async () => {
  const header = ['Item', 'Shelf', 'Price']
  const rows = Array.from({ length: 6 }, (_, index) => [`Item ${index}`, index === 4 ? '' : `B${index}`, `${index}.50`])
  const draw = (shown: readonly string[][], y: number) =>
    shown.flatMap((cells, index) => createRow(cells, y - index * 16).filter(({ text }) => text !== ''))
  const first = [{ text: 'Prices of spring', y: 740 }, ...createRow(header, 720), ...draw(rows.slice(0, 4), 704)]
  const second = [...draw(rows.slice(4), 740), { text: 'These are the prices without taxes.', y: 600 }]
  assert.equal(await extract('prices.pdf', pdf([first, second])), [['Prices of spring', header, rows]])
})

test('prose in columns, a list with numbers and a table with an unclear row are no tables', async () => {
  const prose = Array.from({ length: 8 }, (_, index) => [
    { text: 'The inspectors came in spring and', x: 72, y: 740 - index * 14 },
    { text: 'went to all of the offices, where', x: 320, y: 740 - index * 14 },
  ]).flat()
  const contents = ['Introduction', 'Methods', 'Results'].flatMap((text, index) => createRow([text, `${index + 3}`], 740 - index * 16))
  const unclear = [
    ...createRow(['Item', 'Shelf', 'Price'], 740),
    ...createRow(['Bolt', 'B1', '1.50'], 724),
    ...createRow(['Nut', 'B2', '2.50'], 708),
    { text: 'A text that reaches from the first to the third column of it', x: 72, y: 692 },
    ...createRow(['Saw', 'B3', '3.50'], 676),
    ...createRow(['Axe', 'B4', '4.50'], 660),
  ]
  for (const page of [prose, contents, unclear]) assert.equal(await extract('a.pdf', pdf([page])), [])
})

test('JSON lists of records, also within fields, and lines of records', async () => {
  const records = [
    { name: 'A', size: 1, owner: { city: 'Oslo' } },
    { name: 'B', tags: ['x', 'y'] },
  ]
  const header = ['name', 'size', 'owner.city', 'tags']
  const rows = [
    ['A', '1', 'Oslo', ''],
    ['B', '', '', 'x, y'],
  ]
  assert.equal(await extract('a.json', JSON.stringify(records)), [['', header, rows]])
  assert.equal(await extract('a.json', JSON.stringify({ version: 1, items: records })), [['items', header, rows]])
  assert.equal(await extract('a.jsonl', records.map((record) => JSON.stringify(record)).join('\n')), [['', header, rows]])
  assert.equal(await extract('a.json', '{"a": 1'), [])
  assert.equal(await extract('a.jsonl', `${'{"name": "A", "size": 1}\n'.repeat(10)}{"name": "B",\n`), [
    ['', ['name', 'size'], Array(10).fill(['A', '1'])],
  ])
})

test('tables of Markdown with their headings, but not those in code or with one row', async () => {
  const table = '| Name | Size |\n|---|--:|\n| **A** | 1 |\n| B \\| C | [2](x) |\n'
  const text = `# Sizes\n\n${table}\n## Code\n\n\`\`\`\n${table}\`\`\`\n\n| One | Row |\n|---|---|\n| a | b |\n`
  const rows = [
    ['A', '1'],
    ['B | C', '2'],
  ]
  assert.equal(await extract('a.md', text), [['Sizes', ['Name', 'Size'], rows]])
})

test('code directly below a table is code', async () => {
  const table = '| Name | Size |\n|---|--:|\n| A | 1 |\n| B | 2 |\n'
  assert.is((await extract('a.md', `${table}\`\`\`\n${table}\`\`\`\n`)).length, 1)
})

// Would not end if a pattern needed quadratic time.
test('repetitive malformed text is read, or recognised as text without tables', async () => {
  for (const unit of [' ', '\t', '#', '|', '-', '- ', ': ', '[', '[](', '[a', '\\', '<br', '**']) {
    const text = unit.repeat(300_000 / unit.length)
    await extract('a.md', `| A | B |\n|---|---|\n| 1 | ${text}x |\n| 3 | 4 |\n\n# ${text}x\n\n| a\n${text}-x\n`)
    for (const type of ['md', 'html']) assert.is(await mayHaveTables(type, async () => Buffer.from(`${text}x`)), false)
  }
})

test('documents whose type or content is that of a table may have one', async () => {
  const check = (type: string, content: string) => mayHaveTables(type, async () => Buffer.from(content))
  for (const separator of ['|---|---|', ' | :-: | --- |', '--- | ---', ':--|--:'])
    assert.is(await check('md', `a | b\n${separator}\n1 | 2`), true, separator)
  for (const text of ['a | b', '---', 'no | --- | yes']) assert.is(await check('md', text), false, text)
  assert.is(await check('html', '<TABLE class="a">'), true)
  assert.is(await check('csv', ''), true)
  assert.is(await check('png', '<table'), false)
  assert.is(await mayHaveTables('txt', async () => '/the/path/of/a/large/file'), true)
})

for (const name of ['budget.xlsx', 'budget.ods'])
  test(`sheets of ${name}`, async () => {
    const tables = await extract(name, readFileSync(new URL(name, FIXTURES)))
    assert.equal(
      tables.map(([caption, [first], rows]) => [caption, first, rows.length]),
      [
        ['Budget', 'Department', 3],
        ['Budget', 'Contact', 2],
        ['Salaries', 'Name', 2],
        ['Quarters', 'Region', 2],
      ],
    )
    assert.equal(tables[0]?.[2][0], ['Facilities', 'Rent', '48,500.00 €', '42.5%', '2026-03-31', '57,715.00 €'])
  })

test.run()
