import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('RAG and retrieval tools')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const rag = async (fields: Record<string, unknown> = {}) =>
  server.post('/rag-tools', { name: 'x', knowledge_source_id: (await resources.source()).id, ...fields })
const retrieval = async (fields: Record<string, unknown> = {}) =>
  server.post('/retrieval-tools', { name: 'x', knowledge_source_ids: [(await resources.source()).id], ...fields })

test('a RAG tool has default settings', async () => {
  const source = await resources.source()
  const { id: _, created_at: __, updated_at: ___, ...tool } = await expectData(rag({ knowledge_source_id: source.id }), 201)
  assert.equal(tool, {
    name: 'x',
    description: '',
    knowledge_source_id: source.id,
    embedding_model: 'minilm',
    chunk_size: 800,
    chunk_overlap: 120,
    top_k: 5,
    rerank: true,
    expose_mcp: false,
    model_id: null,
  })
})

test('a retrieval tool has default settings', async () => {
  const sources = [(await resources.source()).id, (await resources.source()).id]
  const { id: _, created_at: __, updated_at: ___, ...tool } = await expectData(retrieval({ knowledge_source_ids: sources }), 201)
  assert.equal(tool, {
    name: 'x',
    description: '',
    knowledge_source_ids: sources,
    search_method: 'hybrid',
    top_k: 5,
    rerank: false,
    score_threshold: null,
    filters: {},
    embedding_model: 'minilm',
    chunk_size: 800,
    chunk_overlap: 120,
    expose_mcp: false,
  })
})

for (const [name, make] of Object.entries({ rag, retrieval })) {
  test(`${name}: sizes are validated, and chunk_overlap must be less than chunk_size`, async () => {
    for (const fields of [
      { chunk_size: 49 },
      { chunk_size: 20_001 },
      { chunk_overlap: -1 },
      { chunk_overlap: 10_001 },
      { top_k: 0 },
      { top_k: 101 },
      { top_k: 1.5 },
    ])
      await expectError(make(fields), 'VALIDATION_ERROR', { field: Object.keys(fields)[0] as string })
    for (const fields of [
      { chunk_size: 50, chunk_overlap: 49 },
      { chunk_size: 20_000, chunk_overlap: 10_000, top_k: 100 },
      { chunk_overlap: 0, top_k: 1 },
    ])
      await expectData(make(fields), 201)
    await expectError(make({ chunk_size: 100, chunk_overlap: 100 }), 'VALIDATION_ERROR', {
      field: 'chunk_overlap',
      error: /less than chunk_size \(100\)/,
    })
    await expectError(make({ chunk_size: 100 }), 'VALIDATION_ERROR', { field: 'chunk_overlap' })
    const tool = await expectData(make({ chunk_size: 500, chunk_overlap: 200 }))
    const path = tool.id.startsWith('rag') ? '/rag-tools' : '/retrieval-tools'
    await expectError(server.put(`${path}/${tool.id}`, { chunk_size: 200 }), 'VALIDATION_ERROR', { field: 'chunk_overlap' })
    await expectError(server.put(`${path}/${tool.id}`, { chunk_overlap: 500 }), 'VALIDATION_ERROR', { field: 'chunk_overlap' })
  })

  test(`${name}: rerank is a boolean that can be changed`, async () => {
    for (const rerank of [true, false]) {
      const tool = await expectData(make({ rerank }))
      const path = `${tool.id.startsWith('rag') ? '/rag-tools' : '/retrieval-tools'}/${tool.id}`
      assert.is((await expectData(server.get(path))).rerank, rerank)
      assert.is((await expectData(server.patch(path, { rerank: !rerank }))).rerank, !rerank)
      assert.is((await expectData(server.put(path, { top_k: 7 }))).rerank, !rerank, 'an omitted field keeps its value')
    }
    for (const rerank of [null, 'yes', 1, []]) await expectError(make({ rerank }), 'VALIDATION_ERROR', { field: 'rerank' })
  })

  test(`${name}: the embedding model must be minilm or an existing model`, async () => {
    const model = await resources.model({ model_id: `embedder-for-${name}` })
    assert.is((await expectData(make({ embedding_model: model.id }))).embedding_model, model.id)
    assert.is((await expectData(make({ embedding_model: `embedder-for-${name}` }))).embedding_model, model.id)
    await expectError(make({ embedding_model: 'nothing' }), 'VALIDATION_ERROR', { field: 'embedding_model' })
  })
}

test('the knowledge sources of a tool must exist on create and update', async () => {
  await expectError(rag({ knowledge_source_id: 'ks_nothing' }), 'VALIDATION_ERROR', { field: 'knowledge_source_id' })
  await expectError(server.post('/rag-tools', { name: 'x' }), 'VALIDATION_ERROR', { field: 'knowledge_source_id' })
  const source = await resources.source()
  for (const knowledge_source_ids of [[], ['ks_nothing'], [source.id, 'ks_nothing'], [source.id, source.id], source.id])
    await expectError(retrieval({ knowledge_source_ids }), 'VALIDATION_ERROR', { field: 'knowledge_source_ids' })
  const [one, two] = [await expectData(rag()), await expectData(retrieval())]
  await expectError(server.put(`/rag-tools/${one.id}`, { knowledge_source_id: 'ks_nothing' }), 'VALIDATION_ERROR')
  await expectError(server.put(`/rag-tools/${one.id}`, { knowledge_source_id: null }), 'VALIDATION_ERROR')
  await expectError(server.put(`/retrieval-tools/${two.id}`, { knowledge_source_ids: [] }), 'VALIDATION_ERROR')
  assert.equal((await expectData(server.put(`/retrieval-tools/${two.id}`, { knowledge_source_ids: [source.id] }))).knowledge_source_ids, [
    source.id,
  ])
})

test('the model of a RAG tool can be given by id or provider model name; null uses the default', async () => {
  const model = await resources.model({ model_id: 'writer' })
  const tool = await expectData(rag({ model_id: 'writer' }))
  assert.is(tool.model_id, model.id)
  assert.is((await expectData(server.put(`/rag-tools/${tool.id}`, { model_id: null }))).model_id, null)
  await expectError(rag({ model_id: 'nothing' }), 'VALIDATION_ERROR', { field: 'model_id' })
})

test('search_method and score_threshold are validated', async () => {
  for (const search_method of ['semantic', 'full_text', 'hybrid'])
    assert.is((await expectData(retrieval({ search_method }))).search_method, search_method)
  await expectError(retrieval({ search_method: 'fulltext' }), 'VALIDATION_ERROR', { field: 'search_method', hint: /full_text/ })
  for (const score_threshold of [0, 0.5, 1, null])
    assert.is((await expectData(retrieval({ score_threshold }))).score_threshold, score_threshold)
  for (const score_threshold of [-0.1, 1.1, '0.5'])
    await expectError(retrieval({ score_threshold }), 'VALIDATION_ERROR', { field: 'score_threshold' })
})

test('a filter of a retrieval tool is a value or a list of values', async () => {
  const filters = { source: 'a.md', page: [1, 2], team: 'hr', public: true }
  assert.equal((await expectData(retrieval({ filters }))).filters, filters)
  for (const value of [null, {}, [], [[]], { $gt: 1 }, [null]])
    await expectError(retrieval({ filters: { page: value } }), 'VALIDATION_ERROR', { field: 'filters.page' })
  await expectError(
    retrieval({ filters: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, 1])) }),
    'VALIDATION_ERROR',
    {
      field: 'filters',
    },
  )
})

test.run()
