import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { KnowledgeFixture, TemporaryFolder } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('sync')
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

test('a sync indexes sent documents and updates the statistics and time of the source', async () => {
  const { source, tool } = await createScriptedSource()
  await knowledge.addDocument(source.id, 'leave.md', '# Leave\n\nEvery employee has twenty-five days of paid leave.')
  await knowledge.addDocument(source.id, 'notice.txt', 'The notice period is three months.')
  const before = await knowledge.getSource(source.id)
  assert.is(before.last_sync, null)
  const { status, last_sync, error, statistics, progress } = await knowledge.sync(source.id)
  assert.is(status, 'active')
  assert.is(error, null)
  assert.is(progress, null)
  assert.ok(Date.parse(last_sync) >= Date.parse(before.created_at))
  assert.equal(statistics, { documents: 2, chunks: 2, failed: 0, skipped: 0, skipped_types: {}, embedded: 2, recognizing: 0 })
  for (const document of await knowledge.documents(source.id))
    assert.equal([document.status, document.error, document.chunks], ['indexed', null, 1])
  assert.equal(await knowledge.searchNames(tool, 'notice period', { top_k: 1 }), ['notice.txt'])
})

test('a sync without changes writes and embeds nothing', async () => {
  const { source } = await createScriptedSource()
  for (const number of [1, 2, 3]) await knowledge.addDocument(source.id, `${number}.md`, `Chapter ${number} of the handbook.`)
  await knowledge.sync(source.id)
  const [before] = await knowledge.listIndexes(source.id)
  const requestsBefore = embedder.requests
  const getVersion = () => knowledge.withVectors(async (database) => (await database.openTable(`${before.id}-text`)).version())
  const written = await getVersion()
  await knowledge.sync(source.id)
  const [after] = await knowledge.listIndexes(source.id)
  assert.is(after.generation, before.generation)
  assert.is(embedder.requests, requestsBefore)
  assert.is(await getVersion(), written)
})

test('sending an unchanged document again does not change it', async () => {
  const source = await knowledge.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
  const { updated_at: _, ...before } = await knowledge.getDocument(source.id, 'a.md')
  const { updated_at: __, ...sent } = await knowledge.addDocument(source.id, 'a.md', 'The brass key opens the attic.')
  assert.equal(sent, before)
  assert.equal((await knowledge.sync(source.id)).statistics, source.statistics)
  await knowledge.addDocument(source.id, 'a.md', 'The copper key opens the cellar.')
  await knowledge.addDocument(source.id, 'a.md', 'The brass key opens the attic.')
  assert.equal((await knowledge.sync(source.id)).statistics, source.statistics)
})

test('a changed document is found by its new text only', async () => {
  const { source, tool } = await createScriptedSource()
  await knowledge.addDocument(source.id, 'rules.md', 'Visitors must wear the crimson badge.')
  await knowledge.addDocument(source.id, 'other.md', 'Lunch is at noon.')
  await knowledge.sync(source.id)
  const textsBefore = embedder.texts.length
  await knowledge.addDocument(source.id, 'rules.md', 'Visitors must wear the turquoise badge.')
  await knowledge.sync(source.id)
  assert.equal(embedder.texts.slice(textsBefore), ['Visitors must wear the turquoise badge.'])
  const words = { search_method: 'full_text' }
  assert.equal(await knowledge.searchNames(await knowledge.createTool(source.id, { ...words, embedding_model: model.id }), 'turquoise'), [
    'rules.md',
  ])
  assert.equal(await knowledge.searchNames(await knowledge.createTool(source.id, { ...words, embedding_model: model.id }), 'crimson'), [])
  for (const { content } of await knowledge.search(tool, 'crimson badge')) assert.not.match(content, /crimson/)
  const [index] = await knowledge.listIndexes(source.id)
  assert.is((await knowledge.readRows(index, 'text')).length, 2)
  assert.is((await knowledge.readRows(index, 'vectors')).length, 2)
})

test('a deleted document is no longer found and leaves the index with the next sync', async () => {
  const { source, tool } = await createScriptedSource()
  const gone = await knowledge.addDocument(source.id, 'gone.md', 'The safe combination is kept by the treasurer.')
  await knowledge.addDocument(source.id, 'kept.md', 'The treasurer is elected every spring.')
  await knowledge.sync(source.id)
  await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}/documents/${gone.id}`))
  assert.equal(await knowledge.searchNames(tool, 'safe combination treasurer'), ['kept.md'])
  const { statistics } = await knowledge.sync(source.id)
  assert.equal(statistics, { documents: 1, chunks: 1, failed: 0, skipped: 0, skipped_types: {}, embedded: 1, recognizing: 0 })
  const [index] = await knowledge.listIndexes(source.id)
  for (const side of ['text', 'vectors'] as const) {
    const rows = await knowledge.readRows(index, side)
    assert.equal(
      rows.filter(({ document_id }) => document_id === gone.id),
      [],
    )
    assert.is(rows.length, 1)
  }
})

test('an unreadable document fails with a reason and the others are indexed', async () => {
  const { source, tool } = await createScriptedSource()
  await knowledge.addDocument(source.id, 'broken.pdf', 'this is no PDF at all, whatever its name says')
  await knowledge.addDocument(source.id, 'empty.md', '')
  await knowledge.addDocument(source.id, 'good.md', 'The archive is in the basement.')
  const { status, statistics } = await knowledge.sync(source.id)
  assert.is(status, 'active')
  assert.ok(statistics.failed >= 1)
  const failed = (await knowledge.documents(source.id)).filter((document) => document.status === 'failed')
  assert.is(failed.length, statistics.failed)
  for (const { error, chunks } of failed) {
    assert.match(error, /^\p{Lu}.*\.$/u)
    assert.is(chunks, 0)
  }
  assert.equal(await knowledge.searchNames(tool, 'archive basement', { top_k: 1 }), ['good.md'])
})

test('a document that becomes unreadable is no longer found', async () => {
  const { source } = await createScriptedSource()
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await knowledge.addDocument(source.id, 'plan.pdf', '')
  await knowledge.addDocument(source.id, 'note.html', '<p>The periwinkle project starts in May.</p>')
  await knowledge.sync(source.id)
  assert.equal(await knowledge.searchNames(tool, 'periwinkle'), ['note.html'])
  await knowledge.addDocument(source.id, 'note.html', '')
  await knowledge.sync(source.id)
  assert.is((await knowledge.getDocument(source.id, 'note.html')).status, 'failed')
  assert.equal(await knowledge.searchNames(tool, 'periwinkle'), [])
  const [index] = await knowledge.listIndexes(source.id)
  assert.equal(await knowledge.readRows(index, 'text'), [])
  assert.equal(await knowledge.readRows(index, 'vectors'), [])
})

test('a sync follows added, changed, deleted and renamed files of a folder', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'Alpha is the first letter.', 'deep/b.md': 'Beta is the second letter.', 'c.md': 'Gamma is the third letter.' })
  const { source } = await createScriptedSource('folder', { path: folder.path })
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  assert.is((await knowledge.sync(source.id)).statistics.documents, 3)
  assert.equal(await knowledge.searchNames(tool, 'beta'), ['deep/b.md'])
  const textsBefore = embedder.texts.length
  folder.write({ 'd.md': 'Delta is the fourth letter.', 'a.md': 'Aleph is another first letter.' })
  folder.remove('deep')
  renameSync(join(folder.path, 'c.md'), join(folder.path, 'renamed.md'))
  const { statistics } = await knowledge.sync(source.id)
  assert.equal(statistics, { documents: 3, chunks: 3, failed: 0, skipped: 0, skipped_types: {}, embedded: 3, recognizing: 0 })
  const found = async (query: string) => (await knowledge.searchNames(tool, query)).join()
  assert.equal([await found('delta'), await found('aleph'), await found('gamma')], ['d.md', 'a.md', 'renamed.md'])
  assert.equal([await found('alpha'), await found('beta')], ['', ''])
  assert.is(embedder.texts.length - textsBefore, 3)
  folder.remove()
})

test('skipped files are counted by type, listed by their status and read once their type is included', async () => {
  const folder = new TemporaryFolder()
  folder.write({
    'a.md': 'The lighthouse keeper sleeps by day.',
    'b.mp3': 'sound',
    'c.mp3': 'sound',
    'd.xyz': 'The harbour pilot sleeps at night.',
  })
  const { source, tool } = await createScriptedSource('folder', { path: folder.path })
  const { statistics } = await knowledge.sync(source.id)
  assert.equal(statistics, {
    documents: 1,
    chunks: 1,
    failed: 0,
    skipped: 3,
    skipped_types: { mp3: 2, xyz: 1 },
    embedded: 1,
    recognizing: 0,
  })
  const path = `/knowledge-sources/${source.id}/documents?sort=name&order=asc`
  const list = async (query: string) =>
    (await expectData(knowledge.service.get(`${path}${query}`))).map(({ name }: { name: string }) => name)
  assert.equal(await list(''), ['a.md'])
  assert.equal(await list('&status=skipped'), ['b.mp3', 'c.mp3', 'd.xyz'])
  const configuration = { path: folder.path, file_types: ['md', 'xyz'] }
  await expectData(knowledge.service.put(`/knowledge-sources/${source.id}`, { configuration }))
  assert.is((await knowledge.sync(source.id)).statistics.skipped, 0)
  assert.equal(await list('&status=skipped'), [])
  assert.is((await knowledge.searchNames(tool, 'harbour pilot'))[0], 'd.xyz')
  folder.remove()
})

test('a missing folder is an error and keeps the documents', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The lighthouse keeper sleeps by day.' })
  const { source, tool } = await createScriptedSource('folder', { path: folder.path })
  const { last_sync } = await knowledge.sync(source.id)
  folder.remove()
  const lost = await knowledge.sync(source.id)
  assert.is(lost.status, 'error')
  assert.match(lost.error, /does not exist\./)
  assert.is(lost.last_sync, last_sync)
  assert.equal(lost.statistics, { documents: 1, chunks: 1, failed: 0, skipped: 0, skipped_types: {}, embedded: 1, recognizing: 0 })
  assert.equal(await knowledge.searchNames(tool, 'lighthouse keeper'), ['a.md'])
  folder.write({ 'a.md': 'The lighthouse keeper sleeps at night.' })
  const { status, error } = await knowledge.sync(source.id)
  assert.equal([status, error], ['active', null])
  folder.remove()
})

test('a text source is one document that a new text replaces', async () => {
  const { source, tool } = await createScriptedSource('text', { text: 'Parcels are handed out at gate four.' })
  assert.equal((await knowledge.sync(source.id)).statistics, {
    documents: 1,
    chunks: 1,
    failed: 0,
    skipped: 0,
    skipped_types: {},
    embedded: 1,
    recognizing: 0,
  })
  assert.match((await knowledge.search(tool, 'parcels'))[0].content, /gate four/)
  await expectData(
    knowledge.service.put(`/knowledge-sources/${source.id}`, { configuration: { text: 'Parcels are handed out at gate nine.' } }),
  )
  await knowledge.sync(source.id)
  const results = await knowledge.search(tool, 'parcels')
  assert.is(results.length, 1)
  assert.match(results[0].content, /gate nine/)
})

test('a file from a path and a sent document may have the same name', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'same.md': 'Found on the disk: walnut.' })
  const { source } = await createScriptedSource('file', { paths: [join(folder.path, 'same.md')] })
  await knowledge.addDocument(source.id, 'same.md', 'Sent by hand: chestnut.')
  const { status, error } = await knowledge.sync(source.id)
  assert.equal([status, error], ['active', null])
  folder.remove()
})

test('the original of a document that becomes too large is deleted', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'Short at first.' })
  const { source } = await createScriptedSource('folder', { path: folder.path, max_file_size: 100 })
  const before = await knowledge.countOriginals()
  await knowledge.sync(source.id)
  assert.is(await knowledge.countOriginals(), before + 1)
  folder.write({ 'a.md': 'Long afterwards. '.repeat(50) })
  await knowledge.sync(source.id)
  assert.is((await knowledge.getDocument(source.id, 'a.md')).status, 'failed')
  assert.is(await knowledge.countOriginals(), before)
  folder.remove()
})

test.run()
