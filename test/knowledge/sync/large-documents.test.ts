import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Semaphore } from '../../../daemon/async/semaphore.ts'
import type { Index } from '../../../daemon/knowledge/passage-indexes/index-store.ts'
import { ParserPool } from '../../../daemon/knowledge/sync/parser-pool.ts'
import type { OnPassages } from '../../../daemon/knowledge/sync/parser-task.ts'
import { PassageCollector } from '../../../daemon/knowledge/sync/passage-collector.ts'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { FakeClock } from '../../webhooks/fake-clock.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'
import { createInput, DISCARD } from './parser-input.ts'

const test = suite('large documents')
let knowledge: KnowledgeFixture
let embedder: ScriptedEmbedder

test.before(
  reportFailure(async () => {
    ;[knowledge, embedder] = await Promise.all([KnowledgeFixture.start(), ScriptedEmbedder.start(8)])
  }),
)
test.after(
  reportFailure(async () => {
    await knowledge.close()
    await embedder.close()
  }),
)

const createTable = (rows: number) =>
  ['id,customer,city,amount', ...Array.from({ length: rows }, (_, row) => `${row},Customer ${row},City ${row % 97},${row * 7}`)].join('\n')

test('a table is read and chunked with much less memory than its cells and passages need', async () => {
  const pool = new ParserPool({ memoryMb: 128, clock: new FakeClock() })
  try {
    const table = Buffer.from(createTable(120_000))
    assert.ok(table.length > 3 * 1024 * 1024)
    let [passages, end] = [0, 0]
    const onPassages: OnPassages = async (_, batch) => {
      for (const { position, start, content } of batch) {
        assert.is(position, passages++)
        assert.ok(start <= end + 2, `text before ${start} is missing`)
        end = start + content.length
      }
    }
    await pool.parse(createInput(table, 'customers.csv'), [{ size: 800, overlap: 120 }], { ...DISCARD, onPassages })
    assert.ok(passages > 10_000, String(passages))
  } finally {
    await pool.close()
  }
})

test('the passages of a large document are written while it is read, and removed if it cannot be read to its end', async () => {
  const calls: string[] = []
  const open = () => ({
    add: async (rows: unknown[]) => void calls.push(`add ${rows.length}`),
    finish: async () => void calls.push('finish'),
    discard: async () => void calls.push('discard'),
  })
  const writing = new Semaphore(1)
  const index = {} as Index
  const collect = () =>
    new PassageCollector({ open } as never, writing, { id: 'doc_1', name: 'a.csv', size: 9, content_hash: 'x' }, [index])
  const batch = (size: number) =>
    Array.from({ length: size }, (_, position) => ({ content: 'x', start: 0, end: 1, page: 1, headings: [], position, words: 'x' }))
  const small = collect()
  await small.add(0, batch(2_500))
  assert.is((await small.finish({ pages: null, places: null, notice: null, skipReason: null, scans: [] })).passages, 2_500)
  assert.is(small.rows.get(index)?.length, 2_500)
  assert.equal(calls, [])
  const large = collect()
  for (const size of [2_000, 1_000, 700]) await large.add(0, batch(size))
  assert.is(large.rows.size, 0)
  assert.is((await large.finish({ pages: null, places: null, notice: null, skipReason: null, scans: [] })).passages, 3_700)
  assert.equal(calls.splice(0), ['add 2000', 'add 1000', 'add 700', 'finish'])
  const broken = collect()
  await broken.add(0, batch(3_000))
  await broken.discard()
  assert.equal(calls.splice(0), ['add 0', 'add 3000', 'discard'])
  const restarted = collect()
  await restarted.add(0, batch(3_000))
  await restarted.restart()
  await restarted.add(0, batch(20))
  assert.is((await restarted.finish({ pages: null, places: null, notice: null, skipReason: null, scans: [] })).passages, 20)
  assert.is(restarted.rows.get(index)?.length, 20)
  assert.equal(calls.splice(0), ['add 0', 'add 3000', 'discard'])
  // The next document can write.
  const endWriting = await writing.acquire()
  endWriting()
})

test('a large table is indexed completely and replaced completely', async () => {
  const { id } = await knowledge.resources.model({ ...embedder.model, model_id: 'embed', pricing: { input: 0, output: 0 } })
  const { source } = await knowledge.createSourceWithTool(id)
  const tool = await knowledge.createTool(source.id, { embedding_model: id, search_method: 'full_text' })
  const upload = async (rows: number) => {
    const document = { name: 'customers.csv', content: createTable(rows) }
    await expectData(knowledge.service.post(`/knowledge-sources/${source.id}/documents`, document), 201)
    return (await knowledge.waitForSync(source.id)).statistics
  }
  const [index] = await knowledge.listIndexes(source.id)
  for (const [rows, least] of [
    [30_000, 2_501],
    [500, 30],
  ] as const) {
    const { chunks, embedded } = await upload(rows)
    assert.ok(chunks >= least, String(chunks))
    assert.is(embedded, chunks)
    for (const side of ['text', 'vectors'] as const)
      assert.is(new Set((await knowledge.readRows(index, side)).map((row) => row.id)).size, chunks, side)
    assert.is((await knowledge.readRows(index, 'vectors')).length, chunks)
    const [found] = await knowledge.search(tool, `Customer ${rows - 1}`)
    assert.match(found.content, `customer: Customer ${rows - 1}\n`)
  }
})

test.run()
