import { renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { KnowledgeFixture, TemporaryFolder } from '../knowledge-fixture.ts'
import { zip } from '../readers/document-fixtures.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('files that changed since they were indexed')
let knowledge: KnowledgeFixture
let embedder: ScriptedEmbedder
let folder: TemporaryFolder

test.before(async () => {
  knowledge = await KnowledgeFixture.start()
  embedder = await ScriptedEmbedder.start()
})
test.after(async () => {
  await embedder.close()
  await knowledge.close()
})
test.before.each(() => {
  folder = new TemporaryFolder()
})
test.after.each(() => folder.remove())

async function addFolder() {
  const model = await knowledge.resources.model(embedder.model)
  const source = await knowledge.createSource('folder', { path: folder.path })
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  await knowledge.sync(source.id)
  /** Returns `name` or `name stale` of each passage. */
  const search = async (query: string) =>
    (await knowledge.search(tool, query)).map(({ metadata, stale }) => `${metadata.source}${stale ? ' stale' : ''}`)
  return { source, search }
}

test('a passage of a changed or deleted file is stale until the next sync', async () => {
  folder.write({ 'heron.md': 'The heron nests by the pond.', 'deep/kestrel.md': 'The kestrel nests in the tower.' })
  const { source, search } = await addFolder()
  assert.equal(await search('heron'), ['heron.md'])
  folder.write({ 'heron.md': 'The heron left the pond in May.' })
  folder.remove('deep')
  assert.equal(await search('heron'), ['heron.md stale'])
  assert.equal(await search('kestrel'), ['deep/kestrel.md stale'])
  await knowledge.sync(source.id)
  assert.equal(await search('heron'), ['heron.md'])
  assert.equal(await search('kestrel'), [])
})

test('a file in an archive is stale if the archive has changed', async () => {
  folder.write({ 'house.zip': Buffer.from(zip({ 'birds/owl.md': 'The owl nests in the barn.' })) })
  const { search } = await addFolder()
  assert.equal(await search('barn'), ['house.zip/birds/owl.md'])
  utimesSync(join(folder.path, 'house.zip'), new Date(), new Date())
  assert.equal(await search('barn'), ['house.zip/birds/owl.md stale'])
})

test('a folder that is not mounted and an uploaded document are not stale', async () => {
  folder.write({ 'swift.md': 'The swift nests under the roof.' })
  const { search } = await addFolder()
  renameSync(folder.path, `${folder.path}-away`)
  assert.equal(await search('swift'), ['swift.md'])
  renameSync(`${folder.path}-away`, folder.path)
  const uploads = await knowledge.createSource()
  await knowledge.addDocument(uploads.id, 'stork.md', 'The stork nests on the chimney.', { path: '/nowhere/stork.md' })
  await knowledge.sync(uploads.id)
  const tool = await knowledge.createTool(uploads.id, { search_method: 'full_text' })
  const [stork] = await knowledge.search(tool, 'stork')
  assert.equal([stork?.metadata.source, stork?.stale], ['stork.md', undefined])
})

test('the citation of a reply is stale if its file has changed, until the file is indexed with the same text', async () => {
  folder.write({ 'leave.md': 'Every employee gets twenty-five days of annual leave.' })
  const source = await knowledge.createSource('folder', { path: folder.path })
  const tool = await knowledge.resources.ragTool({ knowledge_source_id: source.id })
  await knowledge.sync(source.id)
  const agent = await knowledge.resources.agent({ tools: [tool.id] })
  folder.write({ 'leave.md': 'Every employee gets twenty-five days of annual leave. It is paid.' })
  const { id } = await knowledge.resources.conversation({ agent_id: agent.id })
  const reply = await expectData(
    knowledge.service.post(`/conversations/${id}/messages`, { message: 'How many days of annual leave does an employee get?' }),
  )
  assert.is(reply.citations[0]?.stale, true)
  const readCitation = async () => (await expectData(knowledge.service.get(`/conversations/${id}`))).messages.at(-1).citations[0]
  assert.is((await readCitation()).stale, true)
  await knowledge.sync(source.id)
  assert.is((await readCitation()).stale, undefined)
})

test.run()
