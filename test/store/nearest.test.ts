/** Tests vector search above the limits for exact search and for codes, with limits low enough for a test. */
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Filter } from '../../daemon/store/filter.ts'
import type { Table } from '../../daemon/store/lance.ts'
import type { PassageTable } from '../../daemon/store/passage-table.ts'
import { chooseProbes, countPartitions, MIN_QUANTIZED_ROWS } from '../../daemon/store/table-indexes/vector-index.ts'
import { VectorStore } from '../../daemon/store/vector-store.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('vector search')
const folder = mkdtempSync(join(tmpdir(), 'cadre-nearest-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))

const SHAPE = { columns: { id: 'text', document_id: 'text', page: 'integer', vector: 'vector' }, keys: ['document_id'] } as const
const DIMENSIONS = 32
const CLUSTERS = 25
const ROWS = 1_000
const EXACT_ROWS = 600
const QUANTIZED_ROWS = 4_000

const CENTERS = Array.from({ length: CLUSTERS }, (_, cluster) =>
  Float64Array.from({ length: DIMENSIONS }, (_, index) => Math.sin((cluster + 1) * (index + 1) * 1.7)),
)

/** Returns a vector near the center of its cluster, on a smooth curve, so that some neighbors are much nearer than others. */
function createVector(number: number, dimensions = DIMENSIONS): Float32Array {
  const center = CENTERS[number % CLUSTERS] as Float64Array
  const vector = new Float32Array(dimensions)
  let square = 0
  for (let index = 0; index < dimensions; index++) {
    const value = (center[index] as number) + 0.4 * Math.sin((number + 3) * ((index % 3) + 1) * 2.3 + index)
    vector[index] = value
    square += value ** 2
  }
  const length = Math.sqrt(square)
  for (let index = 0; index < dimensions; index++) vector[index] = (vector[index] as number) / length
  return vector
}

const createRow = (number: number, dimensions?: number) => ({
  id: `p${number}`,
  document_id: `d${number % 50}`,
  page: 1,
  vector: createVector(number, dimensions),
})
const createRows = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => createRow(from + index))
const listDocuments = (count: number) => Array.from({ length: count }, (_, at) => `d${at}`)
const pickIds = (found: readonly { id?: unknown }[]) => found.map(({ id }) => id as string)
const findNearest = async (table: PassageTable, number: number, limit = 10) =>
  pickIds(await table.searchVectors(createVector(number), { columns: ['id'], limit }))

/** Opens a table with a separate connection. */
async function openTable(name: string, directory = join(folder, 'vectors')): Promise<Table> {
  const { connect } = await import('@lancedb/lancedb') // after the store, which configures it
  return (await connect(directory)).openTable(name)
}

const listVectorIndices = async (name: string, directory?: string): Promise<string[]> =>
  (await (await openTable(name, directory)).listIndices()).filter(({ columns }) => columns.includes('vector')).map((index) => index.name)

const openStore = (directory = join(folder, 'vectors')) => new VectorStore(directory, EXACT_ROWS, { quantizedRows: QUANTIZED_ROWS })

async function withVectors(work: (vectors: VectorStore) => Promise<void>, directory = join(folder, 'vectors')): Promise<void> {
  const vectors = openStore(directory)
  try {
    await work(vectors)
  } finally {
    await vectors.close()
  }
}

async function measureRecall(table: PassageTable, filter?: Filter): Promise<number> {
  let same = 0
  for (let number = 0; number < 50; number++) {
    const options = { columns: ['id'], limit: 10, ...(filter ? { filter } : {}) }
    const exact = pickIds(await table.searchVectors(createVector(number * 19), { ...options, probes: 'exact' }))
    const found = pickIds(await table.searchVectors(createVector(number * 19), options))
    same += exact.filter((id) => found.includes(id)).length / (50 * exact.length)
  }
  return same
}

test('small tables are searched exactly; larger ones use an index that finds nearly all nearest rows', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('growing', SHAPE)
    assert.not(await table.needsVectorIndex())
    await table.add(createRows(0, EXACT_ROWS))
    await table.optimize()
    await table.updateVectorIndex()
    assert.equal(await listVectorIndices('growing'), [])
    await table.add(createRows(EXACT_ROWS, ROWS))
    await table.optimize()
    assert.ok(await table.needsVectorIndex())
    await table.updateVectorIndex()
    assert.not(await table.needsVectorIndex())
    assert.equal(await listVectorIndices('growing'), ['vector_128_idx'])
    for (const filter of [undefined, { document_id: listDocuments(35) }]) {
      const recall = await measureRecall(table, filter)
      assert.ok(recall >= 0.95, `${recall} of the nearest rows were found`)
    }
  }))

test('searches and commits continue while the index is built, and a kill leaves the table as it was', async () => {
  const killed = join(folder, 'killed')
  await withVectors(async (vectors) => {
    const table = vectors.table('busy', SHAPE)
    await table.add(createRows(0, ROWS))
    const built = table.updateVectorIndex()
    await table.add([{ ...createRow(5_000), document_id: 'late' }])
    await table.remove({ document_id: 'd7' })
    assert.is((await findNearest(table, 5_000))[0], 'p5000')
    cpSync(join(folder, 'vectors', 'busy.lance'), join(killed, 'busy.lance'), { recursive: true })
    assert.equal(await listVectorIndices('busy'), [], 'the index is still being built')
    await table.optimize() // has to wait for the index
    await Promise.all([built, table.updateVectorIndex()])
    assert.equal(await listVectorIndices('busy'), ['vector_128_idx'])
    await checkRows(table)
  })
  await withVectors(async (vectors) => {
    const table = vectors.table('busy', SHAPE)
    await checkRows(table)
    assert.ok(await table.needsVectorIndex())
    await table.updateVectorIndex()
    assert.equal(await listVectorIndices('busy', killed), ['vector_128_idx'])
    await checkRows(table)
  }, killed)

  async function checkRows(table: PassageTable) {
    assert.is(await table.countReadableRows(), ROWS + 1 - ROWS / 50)
    assert.is((await findNearest(table, 5_000))[0], 'p5000')
    assert.is((await findNearest(table, 78))[0], 'p78')
    assert.not((await findNearest(table, 57)).includes('p57')) // of d7
  }
})

test('an index with too many partitions and one that a kill left behind are removed', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('replaced', SHAPE)
    await table.add(createRows(0, ROWS))
    const { Index } = await import('@lancedb/lancedb')
    const create = async (name: string) =>
      (await openTable('replaced')).createIndex('vector', { config: Index.ivfFlat({ distanceType: 'dot', numPartitions: 4 }), name })
    await create('vector_1024_idx')
    const reopened = openStore()
    await reopened.table('replaced', SHAPE).updateVectorIndex()
    assert.equal(await listVectorIndices('replaced'), ['vector_128_idx'])
    await reopened.close()
    await create('vector_idx')
    const again = openStore()
    await again.table('replaced', SHAPE).updateVectorIndex()
    assert.is((await listVectorIndices('replaced')).length, 1)
    assert.is((await findNearest(again.table('replaced', SHAPE), 78))[0], 'p78')
    await again.close()
  }))

test('the index of a large table has quantized vectors, replaces an older one and finds nearly all nearest rows', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('large', SHAPE)
    await table.add(createRows(0, QUANTIZED_ROWS))
    const { Index } = await import('@lancedb/lancedb')
    const config = Index.ivfFlat({ distanceType: 'dot', numPartitions: 4, maxIterations: 1 })
    await (await openTable('large')).createIndex('vector', { config, name: 'vector_128_idx' })
    const reopened = openStore()
    const replaced = reopened.table('large', SHAPE)
    await replaced.updateVectorIndex()
    assert.equal(await listVectorIndices('large'), ['vector_128_rq_idx'])
    for (const filter of [undefined, { document_id: listDocuments(25) }]) {
      const recall = await measureRecall(replaced, filter)
      assert.ok(recall >= 0.95, `${recall} of the nearest rows were found`)
    }
    await reopened.close()
  }))

test('a table that shrank keeps its quantized index down to a quarter of the rows and finds nearly all nearest rows', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('large', SHAPE)
    await table.remove({ document_id: listDocuments(25) })
    assert.not(await table.needsVectorIndex())
    const recall = await measureRecall(table)
    assert.ok(recall >= 0.95, `${recall} of the nearest rows were found`)
    await table.remove({ document_id: listDocuments(40) })
    assert.ok(await table.needsVectorIndex())
    await table.updateVectorIndex()
    assert.equal(await listVectorIndices('large'), ['vector_128_idx'])
  }))

test('from 131,072 rows on, tables have 512 partitions and quantized vectors', () => {
  assert.equal([countPartitions(MIN_QUANTIZED_ROWS - 1), countPartitions(MIN_QUANTIZED_ROWS)], [256, 512])
  assert.is(MIN_QUANTIZED_ROWS, 131_072)
})

test('a query compares a share of the partitions that the index has, and codes again exactly', () => {
  assert.equal(chooseProbes(100_000, 100_000, { partitions: 256, isQuantized: false }), { partitions: 48 })
  assert.equal(chooseProbes(100_000, 100_000, { partitions: 512, isQuantized: true }), { partitions: 160, refineFactor: 2 })
  assert.equal(chooseProbes(200_000, 100_000, { partitions: 256, isQuantized: false }), { partitions: 320, refineFactor: 2 })
  assert.equal(chooseProbes(100_000, 100_000), { partitions: 48 })
})

test('an index with four times the partitions that its table needs is searched in a share of its own partitions', async () => {
  await withVectors((vectors) => vectors.table('surplus', SHAPE).add(createRows(0, ROWS)))
  const { Index } = await import('@lancedb/lancedb')
  const config = Index.ivfFlat({ distanceType: 'dot', numPartitions: 512 })
  await (await openTable('surplus')).createIndex('vector', { config, name: 'vector_512_idx' })
  await withVectors(async (vectors) => {
    const table = vectors.table('surplus', SHAPE)
    assert.not(await table.needsVectorIndex())
    assert.is((await findNearest(table, 78, 100)).length, 100, 'the 24 partitions by the number of rows have about 50')
  })
})

test('a large table whose dimensions cannot be quantized has an index of vectors', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('odd', SHAPE)
    await table.add(Array.from({ length: QUANTIZED_ROWS }, (_, number) => createRow(number, 12)))
    await table.updateVectorIndex()
    assert.equal(await listVectorIndices('odd'), ['vector_128_idx'])
    assert.not(await table.needsVectorIndex())
    const found = pickIds(await table.searchVectors(createVector(78, 12), { columns: ['id'], limit: 10 }))
    assert.is(found[0], 'p78')
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
    assert.is((await findNearest(table, 78))[0], 'p78')
  }))

test('a large table is rewritten only after enough rows were added', () =>
  withVectors(async (vectors) => {
    const table = vectors.table('growing', SHAPE)
    const countUnindexed = async () => (await (await openTable('growing')).indexStats('vector_128_idx'))?.numUnindexedRows
    const addRows = (from: number, to: number) => table.add(createRows(from, to).map((row) => ({ ...row, document_id: 'added' })))
    await addRows(6_000, 6_500)
    await table.optimize()
    assert.is(await countUnindexed(), 500)
    await addRows(6_500, 7_200)
    await table.optimize()
    assert.is(await countUnindexed(), 0)
    for (const number of [6_100, 7_100, 78]) assert.is((await findNearest(table, number))[0], `p${number}`)
    await table.remove({ document_id: 'added' })
    for (const number of [6_100, 7_100]) assert.not((await findNearest(table, number)).includes(`p${number}`))
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
    const filter = { document_id: listDocuments(25) }
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
    await waitFor(async () => readdirSync(indices).some((name) => !before.has(name)) && (await listVectorIndices('growing')).length === 1)
    assert.is((await findNearest(table, 78))[0], 'p78')
  })
})

test.run()
