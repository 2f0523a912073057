import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { ADMIN_TOKEN, type Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const test = suite('reranking')
let knowledge: KnowledgeFixture
let source: Json
const tools: Record<string, Json> = {}
const METHODS = ['semantic', 'full_text', 'hybrid'] as const
const QUESTION = 'How long does a password have to be?'

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    source = await knowledge.createSyncedSource({
      'leave.md': '# Leave\n\nEvery employee has twenty-five days of paid annual leave. Leave that is not taken by March is lost.',
      'reset.md': '# Password reset\n\nWhoever has lost a password asks the service desk for a new password. It does not take long.',
      'sharing.md': '# Password sharing\n\nA password must not be shared. A shared password is changed, however long it has been used.',
      'security.md': '# Security\n\nA password has at least fourteen characters.',
      'emoji.md': '\u{1f600}'.repeat(300),
      'hebrew.md': 'כמה זמן צריכה להיות סיסמה? ארבעה עשר תווים.',
      'line.md': `password ${'x'.repeat(50_000)}`,
      'control.md': 'password \u0001\u0007\u001b[31m long \u007f',
    })
    for (const method of METHODS) tools[method] = await knowledge.createTool(source.id, { search_method: method })
    await knowledge.waitForSync(source.id)
  }),
)
test.after(reportFailure(() => knowledge.close()))

const search = (tool: Json, fields: Json = {}) =>
  expectData(knowledge.service.post(`/retrieval-tools/${tool.id}/search`, { query: QUESTION, explain: true, ...fields }))

for (const method of METHODS) {
  test(`${method} search with rerank orders passages by both scores`, async () => {
    const { results, timings } = await search(tools[method], { rerank: true, top_k: 8 })
    assert.ok(timings.rerank > 0)
    for (const { score, explain } of results) {
      const { fused_score, rerank_score } = explain
      assert.ok(rerank_score >= 0 && rerank_score <= 1)
      assert.ok(score >= Math.min(fused_score, rerank_score) && score <= Math.max(fused_score, rerank_score))
    }
    const scores = results.map(({ score }: Json) => score)
    assert.equal(
      scores,
      [...scores].sort((a, b) => b - a),
    )
    const plain = await search(tools[method], { top_k: 8 })
    const listContents = ({ results }: Json) => results.map(({ content }: Json) => content).sort()
    assert.equal(listContents({ results }), listContents(plain), 'the same passages')
    const read = new Map<string, number>(results.map(({ content, explain }: Json) => [content, explain.rerank_score]))
    const answer = results.find(({ metadata }: Json) => metadata.source === 'security.md')
    assert.is(Math.max(...read.values()), read.get(answer.content), 'the answer has the best rerank score')
    const getRank = (found: Json) => found.results.findIndex(({ content }: Json) => content === answer.content)
    assert.ok(getRank({ results }) <= getRank(plain), 'the answer moved up or stayed')
  })

  test(`${method} search without rerank has no rerank scores`, async () => {
    const { results, timings } = await search(tools[method])
    assert.not('rerank' in timings)
    for (const { score, explain } of results) assert.equal([explain.rerank_score, explain.fused_score], [null, score])
  })
}

test('passages that are not requested can get to the top', async () => {
  const { results } = await search(tools.hybrid, { rerank: true, top_k: 100 })
  const [best] = (await search(tools.hybrid, { rerank: true, top_k: 1 })).results
  assert.is(best.content, results[0].content)
})

test('a query overrides the setting of the tool', async () => {
  const tool = await knowledge.createTool(source.id, { rerank: true })
  const isReranked = async (fields: Json = {}) => (await search(tool, fields)).results[0].explain.rerank_score !== null
  assert.equal([await isReranked(), await isReranked({ rerank: false }), await isReranked({ rerank: true })], [true, false, true])
  await expectData(knowledge.service.patch(`/retrieval-tools/${tool.id}`, { rerank: false }))
  assert.equal([await isReranked(), await isReranked({ rerank: false }), await isReranked({ rerank: true })], [false, false, true])
})

test('a RAG tool reranks by default, and a query can turn it off', async () => {
  const tool = await knowledge.resources.ragTool({ knowledge_source_id: source.id })
  await knowledge.waitForSync(source.id)
  const listScores = async (fields: Json = {}) =>
    (await expectData(knowledge.service.post(`/rag-tools/${tool.id}/query`, { query: QUESTION, top_k: 8, ...fields }))).results.map(
      ({ score }: Json) => score,
    )
  const plain = (await search(tools.hybrid, { top_k: 8 })).results.map(({ score }: Json) => score)
  const reranked = (await search(tools.hybrid, { top_k: 8, rerank: true })).results.map(({ score }: Json) => score)
  assert.not.equal(plain, reranked)
  assert.equal([await listScores(), await listScores({ rerank: true }), await listScores({ rerank: false })], [reranked, reranked, plain])
  await expectData(knowledge.service.patch(`/rag-tools/${tool.id}`, { rerank: false }))
  assert.equal([await listScores(), await listScores({ rerank: true })], [plain, reranked])
})

test('rerank must be a boolean', async () => {
  const rag = await knowledge.resources.ragTool()
  for (const path of [`/retrieval-tools/${tools.hybrid.id}/search`, `/rag-tools/${rag.id}/query`])
    for (const rerank of [null, 'yes', 1]) {
      await expectError(knowledge.service.post(path, { query: 'x', rerank }), 'VALIDATION_ERROR', { field: 'rerank' })
    }
})

test('a query in another script is not reranked', async () => {
  const { results, timings } = await search(tools.hybrid, { query: 'כמה זמן צריכה להיות סיסמה?', rerank: true })
  assert.is(results[0].metadata.source, 'hebrew.md')
  assert.is(results[0].explain.rerank_score, null)
  assert.not('rerank' in timings)
})

test('the score threshold applies to the score after reranking', async () => {
  const { results } = await search(tools.semantic, { rerank: true, top_k: 8 })
  const threshold = (results[1].score + results[2].score) / 2
  const strict = await knowledge.createTool(source.id, { search_method: 'semantic', score_threshold: threshold, rerank: true })
  assert.equal(
    (await search(strict, { top_k: 8 })).results.map(({ score }: Json) => score),
    results.slice(0, 2).map(({ score }: Json) => score),
  )
})

test('an empty source has nothing to rerank', async () => {
  const tool = await knowledge.createTool((await knowledge.createSource()).id, { rerank: true })
  assert.equal((await search(tool)).results, [])
})

test('reranking ends when the client disconnects', async () => {
  const { server } = knowledge.service.app
  const documents = Array.from({ length: 80 }, (_, index) => [`${index}.md`, `Report ${index} on passwords. `.repeat(30)])
  const reports = await knowledge.createSyncedSource(Object.fromEntries(documents))
  const tool = await knowledge.createTool(reports.id, { search_method: 'full_text', rerank: true, top_k: 80 })
  await knowledge.waitForSync(reports.id)
  const address = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  const call = request(new URL(`/api/retrieval-tools/${tool.id}/search`, address), {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
  })
  const closed = new Promise((resolve) => call.on('error', resolve))
  call.end(JSON.stringify({ query: 'reports on passwords' }))
  const countPending = async () => (await expectData(knowledge.service.get('/status'))).queues.embedding
  const isReading = async () => {
    const pending = await countPending()
    return pending > 20 && pending
  }
  const before = await waitFor(isReading, { intervalMs: 1 })
  call.destroy()
  await closed
  let last = before
  for (let pending = before; pending > 0; pending = await countPending()) {
    last = pending
    await sleep(1)
  }
  assert.ok(last > 10, `${last} passages were left`)
})

test.run()
