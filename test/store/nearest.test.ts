/** Tests vector search above the limit for exact search, with a limit low enough for a test. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { PassageTable } from '../../daemon/store/passage-table.ts'
import { VectorStore } from '../../daemon/store/vector-store.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('vector search')
const folder = mkdtempSync(join(tmpdir(), 'cadre-nearest-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))

const SHAPE = { columns: { id: 'text', document_id: 'text', vector: 'vector' }, keys: ['document_id'] } as const
const DIMENSIONS = 32
const CLUSTERS = 25
const ROWS = 1_000
const EXACT_ROWS = 600

/** Returns a vector near the center of its cluster. */
function createVector(number: number): Float32Array {
  const cluster = number % CLUSTERS
  const vector = Float32Array.from(
    { length: DIMENSIONS },
    (_, index) => Math.sin((cluster + 1) * (index + 1) * 1.7) + 0.4 * Math.sin((number + 3) * (index + 2) * 2.3),
  )
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

const createRow = (number: number) => ({ id: `p${number}`, document_id: `d${number % 50}`, vector: createVector(number) })
const createRows = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => createRow(from + index))
const pickIds = (found: readonly { id?: unknown }[]) => found.map(({ id }) => id as string)
const findNearest = async (table: PassageTable, number: number, limit = 10) =>
  pickIds(await table.searchVectors(createVector(number), { columns: ['id'], limit }))

/** Reads the type of the vector index directly from LanceDB. */
async function getIndexType(name: string): Promise<string | undefined> {
  const { connect } = await import('@lancedb/lancedb') // after the store, which configures it
  const table = await (await connect(join(folder, 'vectors'))).openTable(name)
  return (await table.listIndices()).find(({ columns }) => columns.includes('vector'))?.indexType
}

async function withVectors(work: (vectors: VectorStore) => Promise<void>): Promise<void> {
  const vectors = new VectorStore(join(folder, 'vectors'), { exactRows: EXACT_ROWS })
  try {
    await work(vectors)
  } finally {
    await vectors.close()
  }
}

test('small tables are searched exactly; larger ones use an index that finds nearly all nearest rows', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('growing', SHAPE)
    await table.add(createRows(0, EXACT_ROWS))
    await table.optimize()
    assert.is(await getIndexType('growing'), undefined)
    await table.add(createRows(EXACT_ROWS, ROWS))
    await table.optimize()
    assert.is(await getIndexType('growing'), 'IvfFlat')
    let same = 0
    for (let number = 0; number < 50; number++) {
      const all = pickIds(await table.searchVectorsExactly(createVector(number * 19), { columns: ['id'], limit: 10 }))
      const found = await findNearest(table, number * 19)
      same += all.filter((id) => found.includes(id)).length / (50 * all.length)
    }
    assert.ok(same >= 0.95, `${same} of the nearest rows were found`)
  }))

test('rows added after indexing are found before and after optimize, and deleted rows are not', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('growing', SHAPE)
    await table.add([{ ...createRow(5_000), document_id: 'late' }])
    assert.is((await findNearest(table, 5_000))[0], 'p5000')
    await table.optimize()
    assert.is((await findNearest(table, 5_000))[0], 'p5000')
    assert.is((await findNearest(table, 77))[0], 'p77')
    await table.remove({ document_id: ['late', createRow(77).document_id] })
    for (const number of [5_000, 77]) assert.not((await findNearest(table, number)).includes(`p${number}`))
    await table.optimize()
    for (const number of [5_000, 77]) assert.not((await findNearest(table, number)).includes(`p${number}`))
    assert.is((await findNearest(table, 78))[0], 'p78')
  }))

test('the matches of a narrow filter are found in any partition', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('growing', SHAPE)
    const filter = { document_id: 'd3' }
    const wanted = pickIds(await table.list(filter, ['id']))
    const found = pickIds(await table.searchVectors(createVector(10), { columns: ['id'], limit: 100, filter }))
    assert.is(wanted.length, ROWS / 50)
    assert.equal(found.sort(), wanted.sort())
  }))

test('a wide filter excludes rows that do not match', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('growing', SHAPE)
    const filter = { document_id: Array.from({ length: 25 }, (_, at) => `d${at}`) }
    const found = pickIds(await table.searchVectors(createVector(30), { columns: ['id'], limit: 10, filter }))
    assert.is(found.length, 10)
    assert.ok(found.every((id) => Number(id.slice(1)) % 50 < 25))
    assert.is(pickIds(await table.searchVectors(createVector(10), { columns: ['id'], limit: 10, filter }))[0], 'p10')
  }))

test('an unreadable index does not affect results and is rebuilt', async () => {
  const indices = join(folder, 'vectors', 'growing.lance', '_indices')
  for (const entry of readdirSync(indices, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile()) writeFileSync(file, Buffer.alloc(statSync(file).size))
  }
  const before = new Set(readdirSync(indices))
  await withVectors(async (vectors) => {
    const table = vectors.table('growing', SHAPE)
    assert.is((await findNearest(table, 78))[0], 'p78')
    await waitFor(async () => (await getIndexType('growing')) === 'IvfFlat' && readdirSync(indices).some((name) => !before.has(name)))
    assert.is((await findNearest(table, 78))[0], 'p78')
  })
})

test.run()
