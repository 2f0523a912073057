import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const test = suite('search filters')
let knowledge: KnowledgeFixture
let source: Json
const tools: Record<string, Json> = {}
const METHODS = ['semantic', 'full_text', 'hybrid'] as const
const QUERY = 'minutes of the meeting'

const DOCUMENTS: Record<string, Record<string, unknown>> = {
  'a.md': { team: 'sales', year: 2023, public: true, price: 1.5, 'odd "key"': 'x', 'a.b': 'dotted', tags: ['red', 'blue'] },
  'b.md': { team: 'sales', year: 2024, public: false, constructor: 'built' },
  'c.txt': { team: "o'brien", year: 2024, public: true, nested: { deep: 'yes' } },
  "d'; DROP TABLE documents; --.md": { team: '1', flag: 1 },
}

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    source = await knowledge.createSource()
    for (const [name, metadata] of Object.entries(DOCUMENTS))
      await knowledge.addDocument(source.id, name, `Minutes of the meeting, kept as ${name.slice(0, 1)}.`, metadata)
    await knowledge.sync(source.id)
    for (const method of METHODS) tools[method] = await knowledge.createTool(source.id, { search_method: method, top_k: 100 })
    await knowledge.waitForSync(source.id)
  }),
)
test.after(reportFailure(() => knowledge.close()))

/** Returns the first letters of the documents found; all methods must agree. */
async function search(filters: Record<string, unknown>): Promise<string> {
  const answers = await Promise.all(
    METHODS.map(async (method) => (await knowledge.searchNames(tools[method], QUERY, { filters })).map((name) => name[0]).sort()),
  )
  for (const answer of answers) assert.equal(answer, answers[0])
  return (answers[0] as string[]).join('')
}

test('a search without filters finds all documents', async () => assert.is(await search({}), 'abcd'))

test('filters match the name, id and type of a document', async () => {
  assert.is(await search({ source: 'a.md' }), 'a')
  assert.is(await search({ source: ['a.md', 'c.txt', 'nowhere.md'] }), 'ac')
  assert.is(await search({ document_id: (await knowledge.getDocument(source.id, 'b.md')).id }), 'b')
  assert.is(await search({ type: 'txt' }), 'c')
  assert.is(await search({ type: ['txt', 'md'] }), 'abcd')
  assert.is(await search({ source: 'A.MD' }), '')
})

test('filters match pages', async () => {
  assert.is(await search({ page: 1 }), 'abcd')
  assert.is(await search({ page: '1' }), 'abcd')
  assert.is(await search({ page: [2, 3] }), '')
  assert.is(await search({ page: 'one' }), '')
  assert.is(await search({ page: 1.5 }), '')
  assert.is(await search({ page: true }), '')
  assert.is(await search({ page: [1e12, -1, '99999999999'] }), '')
  assert.is(await search({ page: '' }), '')
})

test('filters match strings, numbers and booleans in metadata, or a list of them', async () => {
  assert.is(await search({ team: 'sales' }), 'ab')
  assert.is(await search({ team: ['sales', "o'brien"] }), 'abc')
  assert.is(await search({ year: 2024 }), 'bc')
  assert.is(await search({ year: [2023, 2024] }), 'abc')
  assert.is(await search({ price: 1.5 }), 'a')
  assert.is(await search({ public: true }), 'ac')
  assert.is(await search({ public: false }), 'b')
  assert.is(await search({ public: [true, false] }), 'abc')
})

test('filters compare types: "1" is not 1, and 1 is not true', async () => {
  assert.is(await search({ year: '2024' }), '')
  assert.is(await search({ team: 1 }), '')
  assert.is(await search({ flag: true }), '')
  assert.is(await search({ flag: 1 }), 'd')
  assert.is(await search({ public: 1 }), '')
})

test('several filters must all match', async () => {
  assert.is(await search({ team: 'sales', public: true }), 'a')
  assert.is(await search({ team: 'sales', public: true, page: 2 }), '')
  assert.is(await search({ source: ['a.md', 'b.md'], year: 2024 }), 'b')
})

test('filters under metadata match like top-level filters', async () => {
  assert.is(await search({ metadata: { team: 'sales' } }), 'ab')
  assert.is(await search({ metadata: { team: 'sales', year: [2024, 2025] } }), 'b')
  assert.is(await search({ type: 'md', metadata: { public: true } }), 'a')
  assert.is(await search({ team: ['sales', "o'brien"], metadata: { team: ["o'brien"] } }), 'c')
  assert.is(await search({ metadata: {} }), 'abcd')
  const nested = knowledge.service.post(`/retrieval-tools/${tools.hybrid.id}/search`, {
    query: QUERY,
    filters: { metadata: { team: { deep: 1 } } },
  })
  await expectError(nested, 'VALIDATION_ERROR', { field: 'filters.metadata.team' })
})

test('a filter on unknown metadata matches nothing', async () => {
  assert.is(await search({ department: 'sales' }), '')
  assert.is(await search({ nested: 'yes' }), '')
  assert.is(await search({ tags: '["red","blue"]' }), '')
})

test('names and values of filters are never interpreted as SQL or paths', async () => {
  assert.is(await search({ source: "d'; DROP TABLE documents; --.md" }), 'd')
  assert.is(await search({ source: "' OR '1'='1" }), '')
  assert.is(await search({ document_id: "x') OR true --" }), '')
  assert.is(await search({ page: '1 OR true' }), '')
  assert.is(await search({ "team') OR 1=1 --": 'sales' }), '')
  assert.is(await search({ 'odd "key"': 'x' }), 'a')
  assert.is(await search({ 'a.b': 'dotted' }), 'a')
  assert.is(await search({ constructor: 'built' }), 'b')
  for (const name of ['toString', 'hasOwnProperty', '$', '$.team', '', '"', "'", '[0]', '%'])
    assert.is(await search({ [name]: 'sales' }), '', name)
  assert.is(await search({}), 'abcd')
})

test('filters may have thousands of values', async () => {
  const many = Array.from({ length: 1_000 }, (_, at) => `team ${at}`)
  const filters = Object.fromEntries(Array.from({ length: 49 }, (_, at) => [`field${at}`, many]))
  assert.is(await search({ team: [...many.slice(1), 'sales'] }), 'ab')
  assert.is(await search({ ...filters, team: 'sales' }), '')
})

test('a filter value that is not a scalar or list is rejected', async () => {
  for (const value of [null, {}, [], [[]], [null], { $ne: 'x' }, Array.from({ length: 1_001 }, (_, at) => at)])
    await expectError(
      knowledge.service.post(`/retrieval-tools/${tools.hybrid.id}/search`, { query: QUERY, filters: { team: value } }),
      'VALIDATION_ERROR',
      {
        field: 'filters.team',
      },
    )
})

test('a query never widens the filters of its tool', async () => {
  const narrow = await knowledge.createTool(source.id, { filters: { team: 'sales', source: ['a.md', 'b.md', 'c.txt'] }, top_k: 100 })
  const names = async (filters: Record<string, unknown>) => (await knowledge.searchNames(narrow, QUERY, { filters })).sort()
  assert.equal(await names({}), ['a.md', 'b.md'])
  assert.equal(await names({ public: true }), ['a.md'])
  assert.equal(await names({ source: ['b.md', "d'; DROP TABLE documents; --.md"] }), ['b.md'])
  assert.equal(await names({ team: "o'brien" }), [])
  assert.equal(await names({ team: ["o'brien", 'sales'] }), ['a.md', 'b.md'])
  const paged = await knowledge.createTool(source.id, { filters: { page: 2 } })
  assert.equal(await knowledge.searchNames(paged, QUERY, { filters: { page: 1 } }), [])
})

test('a RAG tool applies the filters of a query', async () => {
  const tool = await knowledge.resources.ragTool({ knowledge_source_id: source.id })
  await knowledge.waitForSync(source.id)
  const { results } = await expectData(
    knowledge.service.post(`/rag-tools/${tool.id}/query`, { query: QUERY, filters: { team: 'sales', public: false } }),
  )
  assert.equal(
    results.map(({ metadata }: Json) => [metadata.source, metadata.year]),
    [['b.md', 2024]],
  )
})

test.run()
