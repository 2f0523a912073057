import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { IndexSelector } from '../../../daemon/knowledge/search/index-selector.ts'
import type { Synchronizer } from '../../../daemon/knowledge/sync/synchronizer.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture, TemporaryFolder } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('sync runs')
let knowledge: KnowledgeFixture
let embedder: ScriptedEmbedder
let model: { id: string }

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    embedder = await ScriptedEmbedder.start()
    model = await knowledge.resources.model(embedder.model)
  }),
)
test.before.each(() => {
  embedder.release()
  embedder.failure = undefined
})
test.after(
  reportFailure(async () => {
    await embedder.close()
    await knowledge.close()
  }),
)

const createScriptedSource = (type?: string, configuration?: Record<string, unknown>) =>
  knowledge.createSourceWithTool(model.id, type, configuration)

test('concurrent requests share one sync, and requests during it cause one more', async () => {
  const { source } = await createScriptedSource()
  await knowledge.addDocument(source.id, 'a.md', 'Only one of these runs at a time.')
  embedder.hold()
  const before = embedder.requests
  for (const shown of await Promise.all(Array.from({ length: 5 }, () => knowledge.startSync(source.id)))) assert.is(shown.status, 'syncing')
  await waitFor(async () => embedder.holding > 0)
  // The running sync does not see this document; the next one does.
  await knowledge.addDocument(source.id, 'b.md', 'This came later.')
  for (const _ of [1, 2, 3]) assert.is((await knowledge.startSync(source.id)).status, 'syncing')
  assert.is(embedder.requests - before, 1)
  embedder.release()
  embedder.hold()
  await waitFor(async () => embedder.holding > 0)
  assert.is((await knowledge.getSource(source.id)).status, 'syncing', 'the source is syncing until the queued sync has ended')
  embedder.release()
  const { status, statistics } = await knowledge.waitForSync(source.id)
  assert.is(status, 'active')
  assert.equal(statistics, { documents: 2, chunks: 2, failed: 0, skipped: 0, skipped_types: {}, embedded: 2, recognizing: 0 })
  assert.is(embedder.requests - before, 2)
})

test('a sync requested while an index is built is reported as running', async () => {
  const { source } = await createScriptedSource()
  await knowledge.addDocument(source.id, 'a.md', 'Something to index.')
  await knowledge.sync(source.id)
  embedder.hold()
  await knowledge.createTool(source.id, { embedding_model: model.id, chunk_size: 60, chunk_overlap: 0 })
  await waitFor(async () => embedder.holding > 0)
  await knowledge.addDocument(source.id, 'b.md', 'Sent while the new index was built.')
  assert.is((await knowledge.startSync(source.id)).status, 'syncing')
  embedder.release()
  assert.equal((await knowledge.waitForSync(source.id)).statistics, {
    documents: 2,
    chunks: 2,
    failed: 0,
    skipped: 0,
    skipped_types: {},
    embedded: 2,
    recognizing: 0,
  })
})

test('a cancelled sync keeps its work and the next sync continues from there', async () => {
  const { source } = await createScriptedSource()
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await knowledge.addDocument(source.id, 'a.md', 'The brass key opens the attic.')
  await knowledge.waitForSync(source.id) // builds the index of the tool
  await expectError(knowledge.service.delete(`/knowledge-sources/${source.id}/sync`), 'CONFLICT', { error: /No sync is running/ })
  embedder.hold()
  await knowledge.startSync(source.id)
  await waitFor(async () => embedder.holding > 0)
  await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}/sync`))
  const { status, progress, statistics } = await knowledge.getSource(source.id)
  assert.equal([status, progress], ['pending', null])
  assert.equal(statistics, { documents: 1, chunks: 1, failed: 0, skipped: 0, skipped_types: {}, embedded: 0, recognizing: 0 })
  assert.equal(await knowledge.searchNames(tool, 'attic'), ['a.md'])
  embedder.release()
  const [before] = await knowledge.listIndexes(source.id)
  assert.is((await knowledge.sync(source.id)).statistics.embedded, 1)
  const [after] = await knowledge.listIndexes(source.id)
  assert.is(after.generation, before.generation + 1, 'the text was not written again')
})

test('a document that is replaced while it is read is indexed with its new content', async () => {
  const { source } = await createScriptedSource()
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  for (const round of [1, 2, 3, 4, 5, 6]) {
    await knowledge.addDocument(source.id, 'a.md', `Version ${round} of the same.`)
    await knowledge.startSync(source.id)
    await knowledge.addDocument(source.id, 'a.md', `Version ${round} replaced as word${round}.`)
    await knowledge.sync(source.id)
    const { status, error } = await knowledge.getDocument(source.id, 'a.md')
    assert.equal([status, error], ['indexed', null])
    assert.equal(await knowledge.searchNames(tool, `word${round}`), ['a.md'])
  }
})

test('a provider error is the error of the source, and full-text search still works', async () => {
  const { source } = await createScriptedSource()
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await knowledge.addDocument(source.id, 'a.md', 'The ferry leaves at seven.')
  embedder.failure = { status: 400, error: 'the model is on holiday' }
  const { status, error } = await knowledge.sync(source.id)
  assert.is(status, 'error')
  assert.match(error, /the model is on holiday/)
  assert.equal(await knowledge.searchNames(tool, 'ferry'), ['a.md'])
  embedder.failure = undefined
  assert.equal((await knowledge.sync(source.id)).statistics.embedded, 1)
})

test('full-text search finds a document before its vectors exist', async () => {
  const { source } = await createScriptedSource()
  await knowledge.addDocument(source.id, 'a.md', 'The observatory is open on clear nights.')
  embedder.hold()
  const fullTextTool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await knowledge.startSync(source.id)
  await waitFor(async () => embedder.holding > 0)
  assert.equal(await knowledge.searchNames(fullTextTool, 'observatory'), ['a.md'])
  const { status, progress, statistics } = await knowledge.getSource(source.id)
  assert.equal([status, progress.stage], ['syncing', 'embedding'])
  assert.equal(statistics, { documents: 1, chunks: 1, failed: 0, skipped: 0, skipped_types: {}, embedded: 0, recognizing: 0 })
  embedder.release()
  await knowledge.waitForSync(source.id)
})

test('full-text search works before the first sync of a source has ended', async () => {
  const source = await knowledge.createSource()
  await knowledge.addDocument(source.id, 'a.md', 'The vineyard faces south.')
  embedder.hold()
  await knowledge.startSync(source.id)
  const fullTextTool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  assert.equal(await knowledge.searchNames(fullTextTool, 'vineyard'), ['a.md'])
  const waits: string[] = []
  const synchronizer = { waitUntilTextReady: async () => void waits.push('text'), waitUntilIdle: async () => void waits.push('vectors') }
  const selector = new IndexSelector(knowledge.service.database, synchronizer as unknown as Synchronizer)
  assert.is((await selector.select(source.id, undefined, true))?.ready, 0)
  assert.equal(waits, [], 'full-text search waits neither for the text, which is there, nor for the vectors')
  await selector.select(source.id, undefined, false)
  assert.equal(waits, ['vectors'])
  embedder.release()
  await knowledge.waitForSync(source.id)
})

test('a source deleted during its sync leaves no documents, tables or originals', async () => {
  const folder = new TemporaryFolder()
  folder.write(Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`${at}.md`, `Paper number ${at} of a source that goes away.`])))
  const tables = (await knowledge.listTables()).length
  const kept = await knowledge.countOriginals()
  for (const [stage, documents] of [
    ['finding', 1],
    ['finding', 20],
    ['finding', 70],
    ['reading', 150],
    ['embedding', 150],
  ] as const) {
    const { source, tool } = await createScriptedSource('folder', { path: folder.path })
    if (stage === 'embedding') embedder.hold()
    await knowledge.startSync(source.id)
    await waitFor(
      async () => {
        const { progress, statistics } = await knowledge.getSource(source.id)
        return progress === null || (progress.stage === stage && statistics.documents >= documents)
      },
      { intervalMs: 1 },
    )
    await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}?force=true`))
    embedder.release()
    await pause(100) // late writes of the cancelled sync
    const [left] = await knowledge.service.database.all<{ count: number }>(
      `SELECT (SELECT count(*) FROM documents WHERE knowledge_source_id = ?1)
         + (SELECT count(*) FROM indexes WHERE knowledge_source_id = ?1)
         + (SELECT count(*) FROM index_users WHERE user_id = ?2) AS count`,
      [source.id, tool.id],
    )
    assert.is(left?.count, 0, stage)
    assert.is((await knowledge.listTables()).length, tables, stage)
    assert.is(await knowledge.countOriginals(), kept, stage)
    assert.not.ok(existsSync(join(knowledge.service.paths.work, source.id)))
  }
  const [orphans] = await knowledge.service.database.all<{ count: number }>(
    'SELECT count(*) AS count FROM index_documents WHERE index_id NOT IN (SELECT id FROM indexes)',
  )
  assert.is(orphans?.count, 0)
  folder.remove()
})

test('the progress of a sync only grows and is null at the end', async () => {
  const { source } = await createScriptedSource()
  for (let at = 0; at < 150; at++) await knowledge.addDocument(source.id, `${at}.md`, `Leaf ${at} of the album.`)
  await knowledge.startSync(source.id)
  const stages = ['finding', 'reading', 'embedding']
  let last = { stage: 0, documents: 0, chunks: 0 }
  let seen = 0
  await waitFor(
    async () => {
      const { progress, status } = await knowledge.getSource(source.id)
      if (status !== 'syncing' && progress === null) return true
      if (progress === null) return false
      const now = { stage: stages.indexOf(progress.stage), documents: progress.documents, chunks: progress.chunks }
      assert.ok(now.stage >= last.stage && now.chunks >= last.chunks, JSON.stringify([last, now]))
      if (now.stage === last.stage && now.stage === 1) assert.ok(now.documents >= last.documents)
      if (progress.stage === 'embedding') assert.is(progress.chunks_total, 150)
      assert.ok(progress.chunks <= Math.max(progress.chunks_total, 0))
      last = now
      seen++
      return false
    },
    { intervalMs: 1 },
  )
  assert.ok(seen > 0)
  assert.equal((await knowledge.getSource(source.id)).statistics, {
    documents: 150,
    chunks: 150,
    failed: 0,
    skipped: 0,
    skipped_types: {},
    embedded: 150,
    recognizing: 0,
  })
})

test.run()
