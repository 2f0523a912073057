import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { extractTables } from '../../../daemon/knowledge/tables/extract-tables.ts'

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
