import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('indexes')
let knowledge: KnowledgeFixture
let embedder: ScriptedEmbedder
let other: ScriptedEmbedder
let model: { id: string }
let second: { id: string }

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    embedder = await ScriptedEmbedder.start()
    other = await ScriptedEmbedder.start(48)
    model = await knowledge.resources.model(embedder.model)
    second = await knowledge.resources.model(other.model)
  }),
)
test.before.each(() => {
  embedder.release()
  other.release()
})
test.after(
  reportFailure(async () => {
    await Promise.all([embedder.close(), other.close()])
    await knowledge.close()
  }),
)

const LONG = Array.from({ length: 12 }, (_, at) => `Paragraph ${at} says that locker ${at} belongs to nobody in particular.`).join('\n\n')

async function createFilledSource() {
  const source = await knowledge.createSource()
  await knowledge.addDocument(source.id, 'lockers.md', LONG)
  await knowledge.addDocument(source.id, 'gate.md', 'The northern gate closes at dusk.')
  return source
}

test('tools with the same settings share an index', async () => {
  const source = await createFilledSource()
  const settings = { embedding_model: model.id, chunk_size: 300, chunk_overlap: 20 }
  await knowledge.createTool(source.id, settings)
  await knowledge.resources.ragTool({ knowledge_source_id: source.id, ...settings })
  await knowledge.sync(source.id)
  assert.is((await knowledge.listIndexes(source.id)).length, 1)
  const textsBefore = embedder.texts.length
  await knowledge.createTool(source.id, settings)
  await knowledge.waitForSync(source.id)
  assert.is(embedder.texts.length, textsBefore, 'a tool with an existing index embeds nothing')
  await knowledge.createTool(source.id, { ...settings, chunk_overlap: 0 })
  await knowledge.waitForSync(source.id)
  assert.is((await knowledge.listIndexes(source.id)).length, 2)
})

test('a document written in several commits is indexed completely and once', async () => {
  const count = 3_000
  const paragraphs = Array.from(
    { length: count },
    (_, at) => `Locker number${at} was given to the person who asked for it in the year ${at}, and to nobody after.`,
  )
  const source = await knowledge.createSource()
  await knowledge.addDocument(source.id, 'register.md', paragraphs.join('\n\n'))
  const tool = await knowledge.createTool(source.id, {
    embedding_model: model.id,
    chunk_size: 100,
    chunk_overlap: 0,
    search_method: 'full_text',
  })
  const { statistics } = await knowledge.sync(source.id)
  const [index] = await knowledge.listIndexes(source.id)
  for (const side of ['text', 'vectors'] as const) {
    const ids = (await knowledge.readRows(index, side)).map(({ id }) => id)
    assert.is(new Set(ids).size, statistics.chunks)
    assert.is(ids.length, statistics.chunks)
  }
  assert.ok(statistics.chunks >= count)
  for (const at of [0, count - 1]) assert.match((await knowledge.search(tool, `number${at}`))[0].content, `number${at} `)
})

test('a source without tools has one index with the default settings', async () => {
  const source = await knowledge.createSyncedSource({ 'a.md': 'Nobody asks for this yet.' })
  const [index, ...more] = await knowledge.listIndexes(source.id)
  assert.equal([index.embedding_model, index.chunk_size, index.chunk_overlap, index.ready, more.length], ['minilm', 800, 120, 1, 0])
})

test('the old index answers until the index of a new embedding model is complete', async () => {
  const source = await createFilledSource()
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id })
  await knowledge.sync(source.id)
  const [before] = await knowledge.listIndexes(source.id)
  const queries = repeat(async () => assert.is((await knowledge.searchNames(tool, 'northern gate dusk'))[0], 'gate.md'))
  other.hold()
  await expectData(knowledge.service.put(`/retrieval-tools/${tool.id}`, { embedding_model: second.id }))
  await waitFor(async () => other.holding > 0)
  assert.is((await knowledge.listIndexes(source.id)).length, 2)
  for (const _ of [1, 2, 3]) assert.is((await knowledge.searchNames(tool, 'northern gate dusk'))[0], 'gate.md')
  other.release()
  await knowledge.waitForSync(source.id)
  assert.ok((await queries.stop()) > 0)
  const [after, ...more] = await knowledge.listIndexes(source.id)
  assert.equal([after.embedding_model, more.length], [second.id, 0])
  assert.equal(
    (await knowledge.listTables()).filter((name) => name.startsWith(before.id)),
    [],
  )
  assert.is((await knowledge.searchNames(tool, 'northern gate dusk'))[0], 'gate.md')
  assert.is((await knowledge.readRows(after, 'text')).length, (await knowledge.readRows(after, 'vectors')).length)
})

test('queries succeed at any time while the chunk size changes', async () => {
  const source = await createFilledSource()
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'hybrid' })
  await knowledge.sync(source.id)
  const queries = repeat(async () => assert.ok((await knowledge.searchNames(tool, 'northern gate dusk', { top_k: 5 })).includes('gate.md')))
  for (let round = 0; round < 6; round++) {
    await expectData(knowledge.service.put(`/retrieval-tools/${tool.id}`, { chunk_size: 100 + round, chunk_overlap: 0 }))
    await knowledge.waitForSync(source.id)
  }
  assert.ok((await queries.stop()) > 10)
  assert.is((await knowledge.listIndexes(source.id)).length, 1)
})

test('the index of a deleted tool is dropped if the source has another', async () => {
  const source = await createFilledSource()
  const kept = await knowledge.createTool(source.id, { embedding_model: model.id })
  const deleted = await knowledge.createTool(source.id, { embedding_model: model.id, chunk_size: 100, chunk_overlap: 0 })
  const rag = await knowledge.resources.ragTool({ knowledge_source_id: source.id, embedding_model: second.id })
  await knowledge.sync(source.id)
  assert.is((await knowledge.listIndexes(source.id)).length, 3)
  await expectData(knowledge.service.delete(`/retrieval-tools/${deleted.id}`))
  await waitFor(async () => (await knowledge.listIndexes(source.id)).length === 2)
  await expectData(knowledge.service.delete(`/rag-tools/${rag.id}`))
  await waitFor(async () => (await knowledge.listIndexes(source.id)).length === 1)
  await knowledge.waitForSync(source.id)
  const [left] = await knowledge.listIndexes(source.id)
  assert.equal([left.embedding_model, left.chunk_size], [model.id, 800])
  const known = new Set((await knowledge.service.database.all<{ id: string }>('SELECT id FROM indexes')).map(({ id }) => id))
  for (const name of await knowledge.listTables()) assert.ok(known.has(name.replace(/-(text|vectors)$/, '')), name)
  assert.is((await knowledge.searchNames(kept, 'northern gate dusk'))[0], 'gate.md')
})

test('moving a tool to another source drops its index of the first', async () => {
  const [first, next] = [await createFilledSource(), await createFilledSource()]
  await knowledge.createTool(first.id, { embedding_model: model.id })
  const tool = await knowledge.createTool(first.id, { embedding_model: model.id, chunk_size: 100, chunk_overlap: 0 })
  await knowledge.sync(first.id)
  await knowledge.sync(next.id)
  await expectData(knowledge.service.put(`/retrieval-tools/${tool.id}`, { knowledge_source_ids: [next.id] }))
  await waitFor(async () => (await knowledge.listIndexes(first.id)).length === 1)
  await waitFor(async () => (await knowledge.listIndexes(next.id)).every(({ embedding_model }) => embedding_model === model.id))
  assert.is((await knowledge.searchNames(tool, 'northern gate dusk'))[0], 'gate.md')
})

test('a tool whose embedding model is deleted by force uses the embedded model', async () => {
  const source = await createFilledSource()
  const short = await knowledge.resources.model(other.model)
  const tool = await knowledge.createTool(source.id, { embedding_model: short.id })
  await knowledge.sync(source.id)
  await expectData(knowledge.service.delete(`/models/${short.id}?force=true`))
  assert.is((await expectData(knowledge.service.get(`/retrieval-tools/${tool.id}`))).embedding_model, 'minilm')
  assert.is((await knowledge.searchNames(tool, 'northern gate dusk'))[0], 'gate.md')
  await knowledge.waitForSync(source.id)
  assert.equal(
    (await knowledge.listIndexes(source.id)).map(({ embedding_model }) => embedding_model),
    ['minilm'],
  )
})

/** Repeats a query until stopped. stop() returns the number of queries or throws the first error. */
function repeat(query: () => Promise<void>): { stop(): Promise<number> } {
  let isRunning = true
  let count = 0
  const loop = (async () => {
    for (; isRunning; count++) await query()
    return count
  })()
  loop.catch(() => undefined) // reported by stop()
  return {
    stop: () => {
      isRunning = false
      return loop
    },
  }
}

test.run()
