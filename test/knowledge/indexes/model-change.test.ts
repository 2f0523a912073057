import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { aloud } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { KnowledgeFixture, waitFor } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('an embedding model that becomes another')
let library: KnowledgeFixture
let first: ScriptedEmbedder
let second: ScriptedEmbedder
let source: Json

test.before(
  aloud(async () => {
    library = await KnowledgeFixture.start()
    first = await ScriptedEmbedder.start(64)
    // Its vectors have another length, so that old and new cannot be confused.
    second = await ScriptedEmbedder.start(32)
    source = await library.createSyncedSource({ 'leave.md': 'Annual leave is thirty days.', 'office.md': 'The office opens at seven.' })
  }),
)
test.after(
  aloud(async () => {
    await library.close()
    await Promise.all([first.close(), second.close()])
  }),
)

const names = (tool: Json, query: string) => library.searchNames(tool, query)
const ofModel = async (id: string) => (await library.listIndexes(source.id)).filter(({ embedding_model }) => embedding_model === id)

test('its indexes are made again with what it is now, and the old ones go', async () => {
  const model = await library.resources.model({ ...first.model, model_id: 'words' })
  const tool = await library.createTool(source.id, { embedding_model: model.id, search_method: 'semantic' })
  await library.waitForSync(source.id)
  assert.is((await names(tool, 'annual leave'))[0], 'leave.md')
  const [old] = await ofModel(model.id)

  await expectData(library.service.put(`/models/${model.id}`, { endpoint: second.model.endpoint }))
  await library.waitForSync(source.id)
  const [now, ...more] = await ofModel(model.id)
  assert.equal(more, [])
  assert.is.not(now.id, old.id)
  assert.is(now.ready, 1)
  assert.is((await names(tool, 'annual leave'))[0], 'leave.md')
  assert.ok(second.texts.some((text) => text.includes('thirty days')))
  await waitFor(async () => !(await library.listTables()).some((table) => table.startsWith(old.id)))
})

test('a change of its name or price leaves them alone, and so does one that is refused', async () => {
  const model = await library.resources.model({ ...first.model, model_id: 'words-2' })
  await library.createTool(source.id, { embedding_model: model.id })
  await library.waitForSync(source.id)
  const [before] = await ofModel(model.id)
  await expectData(
    library.service.put(`/models/${model.id}`, { name: 'Another name', pricing: { input: 1, output: 1 }, endpoint: first.model.endpoint }),
  )
  await expectError(library.service.put(`/models/${model.id}`, { endpoint: null }), 'VALIDATION_ERROR')
  await library.waitForSync(source.id)
  assert.equal(await ofModel(model.id), [before])
})

test('also while it is being synchronized', async () => {
  const model = await library.resources.model({ ...first.model, model_id: 'words-3' })
  first.hold()
  const tool = await library.createTool(source.id, { embedding_model: model.id, search_method: 'semantic' })
  await waitFor(async () => first.holding > 0)
  await expectData(library.service.put(`/models/${model.id}`, { endpoint: second.model.endpoint }))
  first.release()
  await library.waitForSync(source.id)
  assert.is((await ofModel(model.id))[0].ready, 1)
  assert.is((await names(tool, 'annual leave'))[0], 'leave.md')
})

test.run()
