import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { good, refused } from '../harness/answers.ts'
import { aloud } from '../harness/hooks.ts'
import { Folder, Library, until } from './library.ts'
import { ScriptedEmbedder } from './scripted-embedder.ts'

const test = suite('synchronization')
let library: Library
let embedder: ScriptedEmbedder
let model: { id: string }

test.before(
  aloud(async () => {
    library = await Library.open()
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
    await embedder.end()
    await library.end()
  }),
)

/** A source whose only index is made by the scripted model. */
async function scripted(type = 'file', configuration?: Record<string, unknown>) {
  const source = await library.source(type, configuration)
  const tool = await library.tool(source.id, { embedding_model: model.id })
  await library.settled(source.id)
  return { source, tool }
}

const originals = () => readdirSync(library.service.paths.documents, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length

test('documents that were sent are indexed, and the source says how many and when', async () => {
  const { source, tool } = await scripted()
  await library.send(source.id, 'leave.md', '# Leave\n\nEvery employee has twenty-five days of paid leave.')
  await library.send(source.id, 'notice.txt', 'The notice period is three months.')
  const before = await library.show(source.id)
  assert.is(before.last_sync, null)
  const { status, last_sync, error, statistics, progress } = await library.sync(source.id)
  assert.is(status, 'active')
  assert.is(error, null)
  assert.is(progress, null)
  assert.ok(Date.parse(last_sync) >= Date.parse(before.created_at))
  assert.equal(statistics, { documents: 2, chunks: 2, failed: 0, embedded: 2 })
  for (const document of await library.documents(source.id)) assert.equal([document.status, document.error, document.chunks], ['indexed', null, 1])
  assert.equal(await library.names(tool, 'notice period', { top_k: 1 }), ['notice.txt'])
})

test('a synchronization that finds nothing new writes nothing and embeds nothing', async () => {
  const { source } = await scripted()
  for (const number of [1, 2, 3]) await library.send(source.id, `${number}.md`, `Chapter ${number} of the handbook.`)
  await library.sync(source.id)
  const [before] = await library.indexes(source.id)
  const asked = embedder.requests
  const versions = () => readdirSync(join(library.service.paths.vectors, `${before.id}-text.lance`, '_versions')).sort()
  const written = versions()
  await library.sync(source.id)
  const [after] = await library.indexes(source.id)
  assert.is(after.generation, before.generation)
  assert.is(embedder.requests, asked)
  assert.equal(versions(), written)
})

test('a changed document is found by its new text and no more by its old', async () => {
  const { source, tool } = await scripted()
  await library.send(source.id, 'rules.md', 'Visitors must wear the crimson badge.')
  await library.send(source.id, 'other.md', 'Lunch is at noon.')
  await library.sync(source.id)
  const asked = embedder.texts.length
  await library.send(source.id, 'rules.md', 'Visitors must wear the turquoise badge.')
  await library.sync(source.id)
  assert.equal(embedder.texts.slice(asked), ['Visitors must wear the turquoise badge.'])
  const words = { search_method: 'full_text' }
  assert.equal(await library.names(await library.tool(source.id, { ...words, embedding_model: model.id }), 'turquoise'), ['rules.md'])
  assert.equal(await library.names(await library.tool(source.id, { ...words, embedding_model: model.id }), 'crimson'), [])
  for (const { content } of await library.search(tool, 'crimson badge')) assert.not.match(content, /crimson/)
  const [index] = await library.indexes(source.id)
  assert.is((await library.rows(index, 'text')).length, 2)
  assert.is((await library.rows(index, 'vectors')).length, 2)
})

test('a deleted document is not found from that moment, and leaves the index with the next synchronization', async () => {
  const { source, tool } = await scripted()
  const gone = await library.send(source.id, 'gone.md', 'The safe combination is kept by the treasurer.')
  await library.send(source.id, 'kept.md', 'The treasurer is elected every spring.')
  await library.sync(source.id)
  await good(library.service.delete(`/knowledge-sources/${source.id}/documents/${gone.id}`))
  assert.equal(await library.names(tool, 'safe combination treasurer'), ['kept.md'])
  const { statistics } = await library.sync(source.id)
  assert.equal(statistics, { documents: 1, chunks: 1, failed: 0, embedded: 1 })
  const [index] = await library.indexes(source.id)
  for (const side of ['text', 'vectors'] as const) {
    const rows = await library.rows(index, side)
    assert.equal(
      rows.filter(({ document_id }) => document_id === gone.id),
      [],
    )
    assert.is(rows.length, 1)
  }
})

test('a document that cannot be read is failed with the reason, and the others are indexed', async () => {
  const { source, tool } = await scripted()
  await library.send(source.id, 'broken.pdf', 'this is no PDF at all, whatever its name says')
  await library.send(source.id, 'empty.md', '')
  await library.send(source.id, 'good.md', 'The archive is in the basement.')
  const { status, statistics } = await library.sync(source.id)
  assert.is(status, 'active')
  assert.ok(statistics.failed >= 1)
  const failed = (await library.documents(source.id)).filter((document) => document.status === 'failed')
  assert.is(failed.length, statistics.failed)
  for (const { error, chunks } of failed) {
    assert.match(error, /^\p{Lu}.*\.$/u)
    assert.is(chunks, 0)
  }
  assert.equal(await library.names(tool, 'archive basement', { top_k: 1 }), ['good.md'])
})

test('a document that was readable and is no more is not found by what it held', async () => {
  const { source } = await scripted()
  const tool = await library.tool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await library.send(source.id, 'plan.pdf', '')
  await library.send(source.id, 'note.html', '<p>The periwinkle project starts in May.</p>')
  await library.sync(source.id)
  assert.equal(await library.names(tool, 'periwinkle'), ['note.html'])
  await library.send(source.id, 'note.html', '')
  await library.sync(source.id)
  assert.is((await library.document(source.id, 'note.html')).status, 'failed')
  assert.equal(await library.names(tool, 'periwinkle'), [])
  const [index] = await library.indexes(source.id)
  assert.equal(await library.rows(index, 'text'), [])
  assert.equal(await library.rows(index, 'vectors'), [])
})

test('a folder is followed: what is added, changed, deleted and renamed in it', async () => {
  const folder = new Folder()
  folder.write({ 'a.md': 'Alpha is the first letter.', 'deep/b.md': 'Beta is the second letter.', 'c.md': 'Gamma is the third letter.' })
  const { source } = await scripted('folder', { path: folder.path })
  const tool = await library.tool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  assert.is((await library.sync(source.id)).statistics.documents, 3)
  assert.equal(await library.names(tool, 'beta'), ['deep/b.md'])
  const asked = embedder.texts.length
  folder.write({ 'd.md': 'Delta is the fourth letter.', 'a.md': 'Aleph is another first letter.' })
  folder.remove('deep')
  renameSync(join(folder.path, 'c.md'), join(folder.path, 'renamed.md'))
  const { statistics } = await library.sync(source.id)
  assert.equal(statistics, { documents: 3, chunks: 3, failed: 0, embedded: 3 })
  const found = async (query: string) => (await library.names(tool, query)).join()
  assert.equal([await found('delta'), await found('aleph'), await found('gamma')], ['d.md', 'a.md', 'renamed.md'])
  assert.equal([await found('alpha'), await found('beta')], ['', ''])
  assert.is(embedder.texts.length - asked, 3)
  folder.remove()
})

test('a folder that has vanished is an error that says so, and nothing of it is deleted', async () => {
  const folder = new Folder()
  folder.write({ 'a.md': 'The lighthouse keeper sleeps by day.' })
  const { source, tool } = await scripted('folder', { path: folder.path })
  const { last_sync } = await library.sync(source.id)
  folder.remove()
  const lost = await library.sync(source.id)
  assert.is(lost.status, 'error')
  assert.match(lost.error, /There is nothing at .*\./)
  assert.is(lost.last_sync, last_sync)
  assert.equal(lost.statistics, { documents: 1, chunks: 1, failed: 0, embedded: 1 })
  assert.equal(await library.names(tool, 'lighthouse keeper'), ['a.md'])
  folder.write({ 'a.md': 'The lighthouse keeper sleeps at night.' })
  const { status, error } = await library.sync(source.id)
  assert.equal([status, error], ['active', null])
  folder.remove()
})

test('a text source is one document, and its new text replaces the old', async () => {
  const { source, tool } = await scripted('text', { text: 'Parcels are handed out at gate four.' })
  assert.equal((await library.sync(source.id)).statistics, { documents: 1, chunks: 1, failed: 0, embedded: 1 })
  assert.match((await library.search(tool, 'parcels'))[0].content, /gate four/)
  await good(library.service.put(`/knowledge-sources/${source.id}`, { configuration: { text: 'Parcels are handed out at gate nine.' } }))
  await library.sync(source.id)
  const results = await library.search(tool, 'parcels')
  assert.is(results.length, 1)
  assert.match(results[0].content, /gate nine/)
})

test('a file that was read from a path and one that was sent may have the same name', async () => {
  const folder = new Folder()
  folder.write({ 'same.md': 'Found on the disk: walnut.' })
  const { source } = await scripted('file', { paths: [join(folder.path, 'same.md')] })
  await library.send(source.id, 'same.md', 'Sent by hand: chestnut.')
  const { status, error } = await library.sync(source.id)
  assert.equal([status, error], ['active', null])
  folder.remove()
})

test('synchronizations of one source asked for at once are one, and one more for what was asked meanwhile', async () => {
  const { source } = await scripted()
  await library.send(source.id, 'a.md', 'Only one of these runs at a time.')
  embedder.hold()
  const before = embedder.requests
  for (const shown of await Promise.all(Array.from({ length: 5 }, () => library.start(source.id)))) assert.is(shown.status, 'syncing')
  await until(async () => embedder.holding > 0)
  // Sent and asked for while the first is under way: that one does not see it, the next does.
  await library.send(source.id, 'b.md', 'This came later.')
  for (const _ of [1, 2, 3]) assert.is((await library.start(source.id)).status, 'syncing')
  assert.is(embedder.requests - before, 1)
  embedder.release()
  const { status, statistics } = await library.settled(source.id)
  assert.is(status, 'active')
  assert.equal(statistics, { documents: 2, chunks: 2, failed: 0, embedded: 2 })
  assert.is(embedder.requests - before, 2)
})

test('a synchronization asked for while an index is being built is said to be under way', async () => {
  const { source } = await scripted()
  await library.send(source.id, 'a.md', 'Something to index.')
  await library.sync(source.id)
  embedder.hold()
  await library.tool(source.id, { embedding_model: model.id, chunk_size: 60, chunk_overlap: 0 })
  await until(async () => embedder.holding > 0)
  await library.send(source.id, 'b.md', 'Sent while the new index was built.')
  assert.is((await library.start(source.id)).status, 'syncing')
  embedder.release()
  assert.equal((await library.settled(source.id)).statistics, { documents: 2, chunks: 2, failed: 0, embedded: 2 })
})

test('a cancelled synchronization stops, keeps what it did, and goes on from there when asked again', async () => {
  const { source } = await scripted()
  const tool = await library.tool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await library.send(source.id, 'a.md', 'The brass key opens the attic.')
  await refused(library.service.delete(`/knowledge-sources/${source.id}/sync`), 'CONFLICT', { error: /Nothing is being synchronized/ })
  embedder.hold()
  await library.start(source.id)
  await until(async () => embedder.holding > 0)
  await good(library.service.delete(`/knowledge-sources/${source.id}/sync`))
  const { status, progress, statistics } = await library.show(source.id)
  assert.equal([status, progress], ['pending', null])
  assert.equal(statistics, { documents: 1, chunks: 1, failed: 0, embedded: 0 })
  assert.equal(await library.names(tool, 'attic'), ['a.md'])
  embedder.release()
  const [before] = await library.indexes(source.id)
  assert.is((await library.sync(source.id)).statistics.embedded, 1)
  const [after] = await library.indexes(source.id)
  assert.is(after.generation, before.generation + 1, 'its text was not written again')
})

test('a document that is replaced while it is read is not taken for lost', async () => {
  const { source } = await scripted()
  const tool = await library.tool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  for (const round of [1, 2, 3, 4, 5, 6]) {
    await library.send(source.id, 'a.md', `Version ${round} of the same.`)
    await library.start(source.id)
    await library.send(source.id, 'a.md', `Version ${round} replaced as word${round}.`)
    await library.sync(source.id)
    const { status, error } = await library.document(source.id, 'a.md')
    assert.equal([status, error], ['indexed', null])
    assert.equal(await library.names(tool, `word${round}`), ['a.md'])
  }
})

test('a provider that fails is an error with its words, and the text is searchable all the same', async () => {
  const { source } = await scripted()
  const tool = await library.tool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await library.send(source.id, 'a.md', 'The ferry leaves at seven.')
  embedder.failure = { status: 400, error: 'the model is on holiday' }
  const { status, error } = await library.sync(source.id)
  assert.is(status, 'error')
  assert.match(error, /the model is on holiday/)
  assert.equal(await library.names(tool, 'ferry'), ['a.md'])
  embedder.failure = undefined
  assert.equal((await library.sync(source.id)).statistics.embedded, 1)
})

test('text is found by its words while its vectors are still being made', async () => {
  const { source } = await scripted()
  await library.send(source.id, 'a.md', 'The observatory is open on clear nights.')
  embedder.hold()
  const words = await library.tool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await library.start(source.id)
  await until(async () => embedder.holding > 0)
  assert.equal(await library.names(words, 'observatory'), ['a.md'])
  const { status, progress, statistics } = await library.show(source.id)
  assert.equal([status, progress.stage], ['syncing', 'embedding'])
  assert.equal(statistics, { documents: 1, chunks: 1, failed: 0, embedded: 0 })
  embedder.release()
  await library.settled(source.id)
})

test('a source without a tool can be searched by words before its first synchronization has ended', async () => {
  const source = await library.source()
  await library.send(source.id, 'a.md', 'The vineyard faces south.')
  embedder.hold()
  await library.start(source.id)
  const words = await library.tool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  const began = Date.now()
  assert.equal(await library.names(words, 'vineyard'), ['a.md'])
  assert.ok(Date.now() - began < 14_000, 'it waited for the vectors')
  embedder.release()
  await library.settled(source.id)
})

test('a source deleted in the middle of its synchronization leaves no documents, tables or originals', async () => {
  const folder = new Folder()
  folder.write(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at}.md`, `Paper number ${at} of a source that goes away.`])))
  const tables = (await library.tables()).length
  const kept = originals()
  for (const stage of ['finding', 'reading', 'embedding']) {
    const { source, tool } = await scripted('folder', { path: folder.path })
    if (stage === 'embedding') embedder.hold()
    await library.start(source.id)
    await until(async () => {
      const { progress } = await library.show(source.id)
      return progress === null || progress.stage === stage || (stage === 'finding' && progress.stage !== 'finding')
    }, 1)
    await good(library.service.delete(`/knowledge-sources/${source.id}?force=true`))
    embedder.release()
    const left = await library.service.database.get<{ count: number }>(
      'SELECT (SELECT count(*) FROM documents WHERE knowledge_source_id = ?1) + (SELECT count(*) FROM indexes WHERE knowledge_source_id = ?1) + (SELECT count(*) FROM index_users WHERE user_id = ?2) AS count',
      [source.id, tool.id],
    )
    assert.is(left?.count, 0, stage)
    assert.is((await library.tables()).length, tables, stage)
    assert.is(originals(), kept, stage)
    assert.not.ok(existsSync(join(library.service.paths.work, source.id)))
  }
  const orphans = await library.service.database.get<{ count: number }>(
    'SELECT count(*) AS count FROM index_documents WHERE index_id NOT IN (SELECT id FROM indexes)',
  )
  assert.is(orphans?.count, 0)
  folder.remove()
})

test('the original of a document that has become too large is not kept', async () => {
  const folder = new Folder()
  folder.write({ 'a.md': 'Short at first.' })
  const { source } = await scripted('folder', { path: folder.path, max_file_size: 100 })
  const before = originals()
  await library.sync(source.id)
  assert.is(originals(), before + 1)
  folder.write({ 'a.md': 'Long afterwards. '.repeat(50) })
  await library.sync(source.id)
  assert.is((await library.document(source.id, 'a.md')).status, 'failed')
  assert.is(originals(), before)
  folder.remove()
})

test('progress grows from stage to stage and is gone at the end', async () => {
  const { source } = await scripted()
  for (let at = 0; at < 150; at++) await library.send(source.id, `${at}.md`, `Leaf ${at} of the album.`)
  await library.start(source.id)
  const stages = ['finding', 'reading', 'embedding']
  let last = { stage: 0, documents: 0, chunks: 0 }
  let seen = 0
  for (;;) {
    const { progress, status } = await library.show(source.id)
    if (status !== 'syncing' && progress === null) break
    if (progress === null) continue
    const now = { stage: stages.indexOf(progress.stage), documents: progress.documents, chunks: progress.chunks }
    assert.ok(now.stage >= last.stage && now.chunks >= last.chunks, JSON.stringify([last, now]))
    if (now.stage === last.stage && now.stage === 1) assert.ok(now.documents >= last.documents)
    if (progress.stage === 'embedding') assert.is(progress.chunks_total, 150)
    assert.ok(progress.chunks <= Math.max(progress.chunks_total, 0))
    last = now
    seen++
  }
  assert.ok(seen > 0)
  assert.equal((await library.show(source.id)).statistics, { documents: 150, chunks: 150, failed: 0, embedded: 150 })
})

test.run()
