import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { respondWithError, ScriptedProvider, streamReply, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { KnowledgeFixture, waitFor } from './knowledge-fixture.ts'
import { ScriptedEmbedder } from './scripted-embedder.ts'

const test = suite('answers that a model writes')
let library: KnowledgeFixture
let provider: ScriptedProvider
let embedder: ScriptedEmbedder
let source: Json
let model: Json

test.before(
  aloud(async () => {
    library = await KnowledgeFixture.start()
    provider = await ScriptedProvider.start('openai', streamText('Twenty-five days [1].'))
    embedder = await ScriptedEmbedder.start()
    source = await library.createSyncedSource({
      'leave.md': '# Leave\n\nEvery employee has twenty-five days of paid annual leave.',
      'office.md': 'The office opens at seven.',
    })
    model = await library.resources.model({ ...provider.model, pricing: { input: 1, output: 2 } })
  }),
)
test.after(
  aloud(async () => {
    await library.close()
    await Promise.all([provider.close(), embedder.close()])
  }),
)

interface Call {
  kind: string
  model_id: string
  rag_tool_id: string | null
  agent_id: string | null
  status: string
  input_tokens: number
  cost: number | null
}

/** The settled calls of a tool, of the kind. */
const calls = (toolId: string, kind: string) =>
  service().all<Call>(
    "SELECT kind, model_id, rag_tool_id, agent_id, status, input_tokens, cost FROM usage_calls WHERE rag_tool_id = ? AND kind = ? AND status <> 'open' ORDER BY id",
    [toolId, kind],
  )
const service = () => library.service.database
const query = (tool: Json, text = 'How many days of leave do I have?') =>
  library.service.post(`/rag-tools/${tool.id}/query`, { query: text })

test("the tool's model answers from numbered passages, and is charged to the tool", async () => {
  provider.script = [streamReply({ text: ['Twenty-five ', 'days [1].'], usage: { input: 1_000, output: 500 } })]
  const tool = await library.resources.ragTool({ knowledge_source_id: source.id, model_id: model.id })
  await library.waitForSync(source.id)
  const { answer, results } = await expectData(query(tool))
  assert.is(answer, 'Twenty-five days [1].')
  assert.is(results[0].metadata.source, 'leave.md')
  const sent = JSON.stringify(provider.received.at(-1)?.body.messages)
  assert.match(sent, /number=\\"1\\" source=\\"leave.md\\"/)
  assert.match(sent, /How many days of leave do I have\?/)
  assert.equal(await calls(tool.id, 'chat'), [
    { kind: 'chat', model_id: model.id, rag_tool_id: tool.id, agent_id: null, status: 'done', input_tokens: 1_000, cost: 2 },
  ])
})

test('without a model of its own the default one answers', async () => {
  provider.script = [streamText('From the default.')]
  const tool = await library.resources.ragTool({ knowledge_source_id: source.id })
  await library.waitForSync(source.id)
  assert.match((await expectData(query(tool))).answer, /^“/)
  await expectData(library.service.put('/settings', { default_model_id: model.id }))
  assert.is((await expectData(query(tool))).answer, 'From the default.')
  await expectData(library.service.put('/settings', { default_model_id: 'embedded' }))
})

test('where nothing was found no model is asked', async () => {
  const seen = provider.received.length
  const empty = await library.resources.ragTool({ model_id: model.id })
  assert.match((await expectData(query(empty))).answer, /not in your documents/)
  assert.is(provider.received.length, seen)
})

test('a provider that fails is told as it is, and counted', async () => {
  provider.script = [respondWithError(400, { error: { message: 'no such model' } })]
  const tool = await library.resources.ragTool({ knowledge_source_id: source.id, model_id: model.id })
  await library.waitForSync(source.id)
  await expectError(query(tool), 'PROVIDER_ERROR', { error: /no such model/ })
  assert.equal(
    (await calls(tool.id, 'chat')).map(({ status, input_tokens }) => [status, input_tokens]),
    [['failed', 0]],
  )
})

test('passages that are more than the model reads are left out', async () => {
  provider.script = [streamText('ok')]
  const long = await library.createSyncedSource(
    Object.fromEntries([1, 2, 3, 4, 5, 6].map((at) => [`${at}.md`, `Leave ${at}: ${'annual leave days '.repeat(40)}`])),
  )
  const small = await library.resources.model({ ...provider.model, context_window: 700 })
  const tool = await library.resources.ragTool({ knowledge_source_id: long.id, model_id: small.id, top_k: 6 })
  await library.waitForSync(long.id)
  const { results } = await expectData(query(tool, 'annual leave days'))
  const sent = JSON.stringify(provider.received.at(-1)?.body.messages)
  const given = sent.match(/<passage number/g)?.length ?? 0
  assert.ok(given >= 1 && given < results.length, `${given} of ${results.length}`)
})

test('queries and batches of passages are entered with what the provider counted, to the tool that alone uses the index', async () => {
  const remote = await library.resources.model({ ...embedder.model, model_id: 'words', pricing: { input: 1, output: 0 } })
  const tool = await library.resources.ragTool({ knowledge_source_id: source.id, embedding_model: remote.id, model_id: model.id })
  await library.waitForSync(source.id)
  const indexed = await calls(tool.id, 'embedding')
  assert.equal(indexed, [
    { kind: 'embedding', model_id: remote.id, rag_tool_id: tool.id, agent_id: null, status: 'done', input_tokens: 2, cost: 0.002 },
  ])
  provider.script = [streamText('ok')]
  await expectData(query(tool))
  assert.is((await calls(tool.id, 'embedding')).length, 2)
})

test('what is embedded on this machine is entered too, for nothing, and a batch is one entry', async () => {
  const many = await library.createSyncedSource(
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at}.md`, `Number ${at} is a number.`])),
  )
  const tool = await library.resources.ragTool({ knowledge_source_id: many.id, chunk_size: 400 })
  await library.waitForSync(many.id)
  const entered = () => waitFor(async () => ((await calls(tool.id, 'embedding')).length > 0 ? calls(tool.id, 'embedding') : undefined))
  const [batch, ...more] = await entered()
  assert.equal(more, [])
  assert.equal([batch?.model_id, batch?.cost, batch?.status], ['minilm', 0, 'done'])
  assert.ok((batch?.input_tokens ?? 0) > 60)
})

test('an index that two tools share is charged to neither', async () => {
  const shared = await library.createSource()
  const tools = [
    await library.resources.ragTool({ knowledge_source_id: shared.id }),
    await library.resources.ragTool({ knowledge_source_id: shared.id }),
  ]
  await library.addDocument(shared.id, 'a.md', 'Shared words.')
  await library.sync(shared.id)
  for (const tool of tools) assert.equal(await calls(tool.id, 'embedding'), [])
})

test('a budget that is used up stops what would be embedded elsewhere, before anything is sent', async () => {
  const remote = await library.resources.model({ ...embedder.model, model_id: 'dear', pricing: { input: 1, output: 0 } })
  const tool = await library.resources.ragTool({ knowledge_source_id: source.id, embedding_model: remote.id })
  await library.waitForSync(source.id)
  const threshold = await library.resources.threshold({
    entity_type: 'model',
    entity_id: remote.id,
    metric: 'tokens',
    limit: 1,
    action: 'block',
  })
  const seen = embedder.requests
  await expectError(query(tool), 'BUDGET_EXCEEDED')
  assert.is(embedder.requests, seen)
  await expectData(library.service.delete(`/usage/thresholds/${threshold.id}`))
})

test('a provider of vectors that fails is counted once, for nothing', async () => {
  const remote = await library.resources.model({ ...embedder.model, model_id: 'ill' })
  const tool = await library.resources.ragTool({ knowledge_source_id: source.id, embedding_model: remote.id })
  await library.waitForSync(source.id)
  embedder.failure = { status: 400, error: 'ill' }
  await expectError(query(tool), 'PROVIDER_ERROR')
  embedder.failure = undefined
  assert.equal(
    (await calls(tool.id, 'embedding')).map(({ status, input_tokens, cost }) => [status, input_tokens, cost]),
    [
      ['done', 2, null],
      ['failed', 0, null],
    ],
  )
})

test.run()
