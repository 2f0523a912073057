/** Tests that the indexes of passage tables follow inserts and deletes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { PassageTable } from '../../daemon/store/passage-table.ts'
import { VectorStore } from '../../daemon/store/vector-store.ts'

const test = suite('vectors')
const folder = mkdtempSync(join(tmpdir(), 'cadre-vectors-'))
const vectors = new VectorStore(join(folder, 'vectors'))
test.after(async () => {
  await vectors.close()
  rmSync(folder, { recursive: true, force: true })
})

const SHAPE = {
  columns: { id: 'text', document_id: 'text', generation: 'integer', words: 'text' },
  keys: ['document_id'],
  fullTextColumn: 'words',
} as const
const createRow = (number: number) => ({
  id: `d${number}:0`,
  document_id: `d${number}`,
  generation: 1,
  words: `passage about subject${number}`,
})
const searchIds = async (table: PassageTable, words: string) =>
  (await table.searchText(words, { columns: ['id'], limit: 10 })).map(({ id }) => id)

test('repeated deletes and inserts keep the full-text index correct', async () => {
  // Updating the full-text index panics inside LanceDB in about half of these rounds.
  for (let round = 0; round < 12; round++) {
    const table = vectors.table(`round-${round}`, SHAPE)
    await table.add([createRow(0), createRow(1)])
    await table.optimize()
    await table.add([createRow(2)])
    await table.remove({ document_id: ['d1'] })
    await table.optimize()
    await table.add([createRow(3)])
    await table.optimize()
    await table.remove({ document_id: 'd3' })
    await table.optimize()
    await table.add([createRow(4)])
    await table.optimize()
    assert.equal(await searchIds(table, 'subject4'), ['d4:0'])
    assert.equal(await searchIds(table, 'subject3'), [])
    assert.equal((await searchIds(table, 'passage')).sort(), ['d0:0', 'd2:0', 'd4:0'])
  }
})

test('alternatives match with a lower score, and all words of an alternative are needed', async () => {
  const table = vectors.table('alternatives', SHAPE)
  const texts = ['days of leave', 'the holiday party', 'your time away off work', 'the time of day', ...Array(40).fill('other words')]
  await table.add(texts.map((words, number) => ({ ...createRow(number), words })))
  await table.optimize()
  const search = async (words: string, alternatives: string[]) =>
    (await table.searchText(words, { columns: ['id'], limit: 10, alternatives })).map(({ id }) => id)
  assert.equal(await search('holiday', ['leave', 'time off']), ['d1:0', 'd2:0', 'd0:0'])
  assert.equal((await search('leave', ['holiday', 'time off']))[0], 'd0:0')
  assert.equal(await search('holiday', []), ['d1:0'])
})

test('rows that the full-text index does not contain yet are found at once, also by alternatives', async () => {
  const table = vectors.table('fresh', SHAPE)
  await table.add([createRow(0), createRow(1)])
  await table.optimize()
  await table.add([createRow(2), { ...createRow(3), words: 'days of leave' }])
  await table.remove({ document_id: 'd1' })
  assert.equal(await searchIds(table, 'subject2'), ['d2:0'])
  assert.equal((await searchIds(table, 'passage')).sort(), ['d0:0', 'd2:0'])
  const found = await table.searchText('holiday', { columns: ['id'], limit: 10, alternatives: ['leave', 'time off'] })
  assert.equal(
    found.map(({ id }) => id),
    ['d3:0'],
  )
})

test('filter values are quoted, whatever they contain', async () => {
  const table = vectors.table('quotes', SHAPE)
  const odd = "o'hara' OR '1'='1"
  await table.add([{ ...createRow(0), document_id: odd }, createRow(1)])
  assert.equal((await table.list({ document_id: odd }, ['id'])).length, 1)
  assert.equal(await table.list({ document_id: "' OR '1'='1" }, ['id']), [])
  assert.equal(await table.list({ document_id: [] }, ['id']), [])
})

test.run()
