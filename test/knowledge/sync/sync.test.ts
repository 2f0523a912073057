import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { aloud } from '../../harness/hooks.ts'
import { KnowledgeFixture, TemporaryFolder } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('synchronization')
let library: KnowledgeFixture
let embedder: ScriptedEmbedder
let model: { id: string }

test.before(
  aloud(async () => {
    library = await KnowledgeFixture.start()
    embedder = await ScriptedEmbedder.start()
    model = await library.resources.model(embedder.model)
  }),
)
test.before.each(() => {
  embedder.release()
  embedder.failure = undefined
})
test.after(
  aloud(async () => {
    await embedder.close()
    await library.close()
  }),
)

/** A source whose only index is made by the scripted model. */
async function scripted(type = 'file', configuration?: Record<string, unknown>) {
  const source = await library.createSource(type, configuration)
  const tool = await library.createTool(source.id, { embedding_model: model.id })
  await library.waitForSync(source.id)
  return { source, tool }
}

const originals = () =>
  readdirSync(library.service.paths.documents, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length

test('documents that were sent are indexed, and the source says how many and when', async () => {
  const { source, tool } = await scripted()
  await library.addDocument(source.id, 'leave.md', '# Leave\n\nEvery employee has twenty-five days of paid leave.')
  await library.addDocument(source.id, 'notice.txt', 'The notice period is three months.')
  const before = await library.getSource(source.id)
  assert.is(before.last_sync, null)
  const { status, last_sync, error, statistics, progress } = await library.sync(source.id)
  assert.is(status, 'active')
  assert.is(error, null)
  assert.is(progress, null)
  assert.ok(Date.parse(last_sync) >= Date.parse(before.created_at))
  assert.equal(statistics, { documents: 2, chunks: 2, failed: 0, embedded: 2 })
  for (const document of await library.documents(source.id))
    assert.equal([document.status, document.error, document.chunks], ['indexed', null, 1])
  assert.equal(await library.searchNames(tool, 'notice period', { top_k: 1 }), ['notice.txt'])
})

test('a synchronization that finds nothing new writes nothing and embeds nothing', async () => {
  const { source } = await scripted()
  for (const number of [1, 2, 3]) await library.addDocument(source.id, `${number}.md`, `Chapter ${number} of the handbook.`)
  await library.sync(source.id)
  const [before] = await library.listIndexes(source.id)
  const asked = embedder.requests
  const versions = () => readdirSync(join(library.service.paths.vectors, `${before.id}-text.lance`, '_versions')).sort()
  const written = versions()
  await library.sync(source.id)
  const [after] = await library.listIndexes(source.id)
  assert.is(after.generation, before.generation)
  assert.is(embedder.requests, asked)
  assert.equal(versions(), written)
})

test('a document that is sent once more just as it was stays what it is', async () => {
  const source = await library.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
  const { updated_at: _, ...before } = await library.getDocument(source.id, 'a.md')
  const { updated_at: __, ...sent } = await library.addDocument(source.id, 'a.md', 'The brass key opens the attic.')
  assert.equal(sent, before)
  assert.equal((await library.sync(source.id)).statistics, source.statistics)
  await library.addDocument(source.id, 'a.md', 'The copper key opens the cellar.')
  await library.addDocument(source.id, 'a.md', 'The brass key opens the attic.')
  assert.equal((await library.sync(source.id)).statistics, source.statistics)
})

test('a changed document is found by its new text and no more by its old', async () => {
  const { source, tool } = await scripted()
  await library.addDocument(source.id, 'rules.md', 'Visitors must wear the crimson badge.')
  await library.addDocument(source.id, 'other.md', 'Lunch is at noon.')
  await library.sync(source.id)
  const asked = embedder.texts.length
  await library.addDocument(source.id, 'rules.md', 'Visitors must wear the turquoise badge.')
  await library.sync(source.id)
  assert.equal(embedder.texts.slice(asked), ['Visitors must wear the turquoise badge.'])
  const words = { search_method: 'full_text' }
  assert.equal(await library.searchNames(await library.createTool(source.id, { ...words, embedding_model: model.id }), 'turquoise'), [
    'rules.md',
  ])
  assert.equal(await library.searchNames(await library.createTool(source.id, { ...words, embedding_model: model.id }), 'crimson'), [])
  for (const { content } of await library.search(tool, 'crimson badge')) assert.not.match(content, /crimson/)
  const [index] = await library.listIndexes(source.id)
  assert.is((await library.readRows(index, 'text')).length, 2)
  assert.is((await library.readRows(index, 'vectors')).length, 2)
})

test('a deleted document is not found from that moment, and leaves the index with the next synchronization', async () => {
  const { source, tool } = await scripted()
  const gone = await library.addDocument(source.id, 'gone.md', 'The safe combination is kept by the treasurer.')
  await library.addDocument(source.id, 'kept.md', 'The treasurer is elected every spring.')
  await library.sync(source.id)
  await expectData(library.service.delete(`/knowledge-sources/${source.id}/documents/${gone.id}`))
  assert.equal(await library.searchNames(tool, 'safe combination treasurer'), ['kept.md'])
  const { statistics } = await library.sync(source.id)
  assert.equal(statistics, { documents: 1, chunks: 1, failed: 0, embedded: 1 })
  const [index] = await library.listIndexes(source.id)
  for (const side of ['text', 'vectors'] as const) {
    const rows = await library.readRows(index, side)
    assert.equal(
      rows.filter(({ document_id }) => document_id === gone.id),
      [],
    )
    assert.is(rows.length, 1)
  }
})

test('a document that cannot be read is failed with the reason, and the others are indexed', async () => {
  const { source, tool } = await scripted()
  await library.addDocument(source.id, 'broken.pdf', 'this is no PDF at all, whatever its name says')
  await library.addDocument(source.id, 'empty.md', '')
  await library.addDocument(source.id, 'good.md', 'The archive is in the basement.')
  const { status, statistics } = await library.sync(source.id)
  assert.is(status, 'active')
  assert.ok(statistics.failed >= 1)
  const failed = (await library.documents(source.id)).filter((document) => document.status === 'failed')
  assert.is(failed.length, statistics.failed)
  for (const { error, chunks } of failed) {
    assert.match(error, /^\p{Lu}.*\.$/u)
    assert.is(chunks, 0)
  }
  assert.equal(await library.searchNames(tool, 'archive basement', { top_k: 1 }), ['good.md'])
})

test('a document that was readable and is no more is not found by what it held', async () => {
  const { source } = await scripted()
  const tool = await library.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await library.addDocument(source.id, 'plan.pdf', '')
  await library.addDocument(source.id, 'note.html', '<p>The periwinkle project starts in May.</p>')
  await library.sync(source.id)
  assert.equal(await library.searchNames(tool, 'periwinkle'), ['note.html'])
  await library.addDocument(source.id, 'note.html', '')
  await library.sync(source.id)
  assert.is((await library.getDocument(source.id, 'note.html')).status, 'failed')
  assert.equal(await library.searchNames(tool, 'periwinkle'), [])
  const [index] = await library.listIndexes(source.id)
  assert.equal(await library.readRows(index, 'text'), [])
  assert.equal(await library.readRows(index, 'vectors'), [])
})

test('a folder is followed: what is added, changed, deleted and renamed in it', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'Alpha is the first letter.', 'deep/b.md': 'Beta is the second letter.', 'c.md': 'Gamma is the third letter.' })
  const { source } = await scripted('folder', { path: folder.path })
  const tool = await library.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  assert.is((await library.sync(source.id)).statistics.documents, 3)
  assert.equal(await library.searchNames(tool, 'beta'), ['deep/b.md'])
  const asked = embedder.texts.length
  folder.write({ 'd.md': 'Delta is the fourth letter.', 'a.md': 'Aleph is another first letter.' })
  folder.remove('deep')
  renameSync(join(folder.path, 'c.md'), join(folder.path, 'renamed.md'))
  const { statistics } = await library.sync(source.id)
  assert.equal(statistics, { documents: 3, chunks: 3, failed: 0, embedded: 3 })
  const found = async (query: string) => (await library.searchNames(tool, query)).join()
  assert.equal([await found('delta'), await found('aleph'), await found('gamma')], ['d.md', 'a.md', 'renamed.md'])
  assert.equal([await found('alpha'), await found('beta')], ['', ''])
  assert.is(embedder.texts.length - asked, 3)
  folder.remove()
})

test('a folder that has vanished is an error that says so, and nothing of it is deleted', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The lighthouse keeper sleeps by day.' })
  const { source, tool } = await scripted('folder', { path: folder.path })
  const { last_sync } = await library.sync(source.id)
  folder.remove()
  const lost = await library.sync(source.id)
  assert.is(lost.status, 'error')
  assert.match(lost.error, /There is nothing at .*\./)
  assert.is(lost.last_sync, last_sync)
  assert.equal(lost.statistics, { documents: 1, chunks: 1, failed: 0, embedded: 1 })
  assert.equal(await library.searchNames(tool, 'lighthouse keeper'), ['a.md'])
  folder.write({ 'a.md': 'The lighthouse keeper sleeps at night.' })
  const { status, error } = await library.sync(source.id)
  assert.equal([status, error], ['active', null])
  folder.remove()
})

test('a text source is one document, and its new text replaces the old', async () => {
  const { source, tool } = await scripted('text', { text: 'Parcels are handed out at gate four.' })
  assert.equal((await library.sync(source.id)).statistics, { documents: 1, chunks: 1, failed: 0, embedded: 1 })
  assert.match((await library.search(tool, 'parcels'))[0].content, /gate four/)
  await expectData(
    library.service.put(`/knowledge-sources/${source.id}`, { configuration: { text: 'Parcels are handed out at gate nine.' } }),
  )
  await library.sync(source.id)
  const results = await library.search(tool, 'parcels')
  assert.is(results.length, 1)
  assert.match(results[0].content, /gate nine/)
})

test('a file that was read from a path and one that was sent may have the same name', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'same.md': 'Found on the disk: walnut.' })
  const { source } = await scripted('file', { paths: [join(folder.path, 'same.md')] })
  await library.addDocument(source.id, 'same.md', 'Sent by hand: chestnut.')
  const { status, error } = await library.sync(source.id)
  assert.equal([status, error], ['active', null])
  folder.remove()
})

test('the original of a document that has become too large is not kept', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'Short at first.' })
  const { source } = await scripted('folder', { path: folder.path, max_file_size: 100 })
  const before = originals()
  await library.sync(source.id)
  assert.is(originals(), before + 1)
  folder.write({ 'a.md': 'Long afterwards. '.repeat(50) })
  await library.sync(source.id)
  assert.is((await library.getDocument(source.id, 'a.md')).status, 'failed')
  assert.is(originals(), before)
  folder.remove()
})

test.run()
