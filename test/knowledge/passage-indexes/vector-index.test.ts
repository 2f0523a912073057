/** Tests when the vector index of a source is built, with a limit low enough for a test. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('vector index of a source')
const PASSAGES = 150
let knowledge: KnowledgeFixture
let embedder: ScriptedEmbedder
let source: Json
let tool: Json

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    embedder = await ScriptedEmbedder.start()
    const model = await knowledge.resources.model(embedder.model)
    const created = await knowledge.createSourceWithTool(model.id)
    source = created.source
    tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'semantic' })
    for (let number = 0; number < PASSAGES; number++) await knowledge.addDocument(source.id, `${number}.md`, createText(number))
    await knowledge.sync(source.id)
  }),
)
test.after(
  reportFailure(async () => {
    await embedder.close()
    await knowledge.close()
  }),
)

/** Texts that share no words, so that none is dropped as a duplicate. The embedder counts words of letters. */
const createText = (number: number) =>
  Array.from({ length: 8 }, (_, at) => String(number * 8 + at).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] as string)).join(
    ' ',
  )
const searchBest = async (number: number) => (await knowledge.searchNames(tool, createText(number)))[0]

async function listVectorIndices(): Promise<string[]> {
  const [index] = await knowledge.listIndexes(source.id)
  const indices = await knowledge.withVectors(async (database) => (await database.openTable(`${index.id}-vectors`)).listIndices())
  return indices.filter(({ columns }) => columns.includes('vector')).map(({ name }) => name)
}

test('a home without an index gets one in the background after the start, and nothing is embedded again', async () => {
  assert.equal(await listVectorIndices(), [])
  const texts = embedder.texts.length
  knowledge = await knowledge.restart(undefined, { exactRows: PASSAGES - 10 })
  assert.is(await searchBest(3), '3.md')
  await waitFor(async () => (await listVectorIndices()).length === 1)
  assert.is((await knowledge.waitForSync(source.id)).status, 'active')
  assert.is(embedder.texts.length, texts + 1)
  assert.is(await searchBest(4), '4.md')
})

test('documents that are added, changed and deleted after the index was built are searched as they are', async () => {
  await knowledge.addDocument(source.id, 'new.md', createText(900))
  await knowledge.addDocument(source.id, '5.md', createText(905))
  const [deleted] = await expectData(knowledge.service.get(`/knowledge-sources/${source.id}/documents?name=6.md`))
  await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}/documents/${deleted.id}`))
  await knowledge.sync(source.id)
  assert.is(await searchBest(900), 'new.md')
  assert.is(await searchBest(905), '5.md')
  const names = await knowledge.searchNames(tool, createText(6), { top_k: 50 })
  assert.not(names.includes('6.md'))
})

test('filters find the nearest of the documents that match', async () => {
  for (const wanted of [['7.md', '8.md'], Array.from({ length: 145 }, (_, number) => `${number}.md`).filter((name) => name !== '9.md')]) {
    const found = await knowledge.searchNames(tool, createText(9), { filters: { source: wanted } })
    assert.ok(found.length > 0 && found.every((name) => wanted.includes(name)))
  }
})

test.run()
