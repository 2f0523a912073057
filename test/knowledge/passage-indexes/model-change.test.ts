import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('changed embedding models')
let knowledge: KnowledgeFixture
let first: ScriptedEmbedder
let second: ScriptedEmbedder
let source: Json

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    first = await ScriptedEmbedder.start(64)
    // Vectors of another length cannot be mixed with the old ones.
    second = await ScriptedEmbedder.start(32)
    source = await knowledge.createSyncedSource({ 'leave.md': 'Annual leave is thirty days.', 'office.md': 'The office opens at seven.' })
  }),
)
test.after(
  reportFailure(async () => {
    await knowledge.close()
    await Promise.all([first.close(), second.close()])
  }),
)

const names = (tool: Json, query: string) => knowledge.searchNames(tool, query)
const listModelIndexes = async (id: string) =>
  (await knowledge.listIndexes(source.id)).filter(({ embedding_model }) => embedding_model === id)

test('changing the endpoint of an embedding model rebuilds its indexes', async () => {
  const model = await knowledge.resources.model({ ...first.model, model_id: 'words' })
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'semantic' })
  await knowledge.waitForSync(source.id)
  assert.is((await names(tool, 'annual leave'))[0], 'leave.md')
  const [old] = await listModelIndexes(model.id)

  await expectData(knowledge.service.put(`/models/${model.id}`, { endpoint: second.model.endpoint }))
  await knowledge.waitForSync(source.id)
  const [now, ...more] = await listModelIndexes(model.id)
  assert.equal(more, [])
  assert.is.not(now.id, old.id)
  assert.is(now.ready, 1)
  assert.is((await names(tool, 'annual leave'))[0], 'leave.md')
  assert.ok(second.texts.some((text) => text.includes('thirty days')))
  await waitFor(async () => !(await knowledge.listTables()).some((table) => table.startsWith(old.id)))
})

test('changing the name or price of an embedding model, or a rejected change, keeps its indexes', async () => {
  const model = await knowledge.resources.model({ ...first.model, model_id: 'words-2' })
  await knowledge.createTool(source.id, { embedding_model: model.id })
  await knowledge.waitForSync(source.id)
  const [before] = await listModelIndexes(model.id)
  await expectData(
    knowledge.service.put(`/models/${model.id}`, {
      name: 'Another name',
      pricing: { input: 1, output: 1 },
      endpoint: first.model.endpoint,
    }),
  )
  await expectError(knowledge.service.put(`/models/${model.id}`, { endpoint: null }), 'VALIDATION_ERROR')
  await knowledge.waitForSync(source.id)
  assert.equal(await listModelIndexes(model.id), [before])
})

test('changing an embedding model during a sync rebuilds its index', async () => {
  const model = await knowledge.resources.model({ ...first.model, model_id: 'words-3' })
  first.hold()
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'semantic' })
  await waitFor(async () => first.holding > 0)
  await expectData(knowledge.service.put(`/models/${model.id}`, { endpoint: second.model.endpoint }))
  first.release()
  await knowledge.waitForSync(source.id)
  assert.is((await listModelIndexes(model.id))[0].ready, 1)
  assert.is((await names(tool, 'annual leave'))[0], 'leave.md')
})

test.run()
