import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const test = suite('search')
let knowledge: KnowledgeFixture
let source: Json
const tools: Record<string, Json> = {}
const METHODS = ['semantic', 'full_text', 'hybrid'] as const

const HANDBOOK = {
  'leave.md': '# Leave\n\nEvery employee has twenty-five days of paid annual leave. Leave that is not taken by March is lost.',
  'travel.md': '# Travel\n\nTrips by train are booked in second class. Flights need the consent of the head of department.',
  'security.md': '# Security\n\nPasswords have at least fourteen characters and are changed when they may be known to others.',
  'kitchen.md': '# Kitchen\n\nThe dishwasher is started by whoever puts in the last cup. The fridge is emptied on Fridays.',
  'codes.md': '# Codes\n\nThe form for a lost badge is called XR-4471 and is found at the reception.',
}

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    source = await knowledge.createSyncedSource(HANDBOOK)
    for (const method of METHODS) tools[method] = await knowledge.createTool(source.id, { search_method: method })
    await knowledge.waitForSync(source.id)
  }),
)
test.after(reportFailure(() => knowledge.close()))

for (const method of METHODS) {
  test(`${method} search returns the answering passage first with its position`, async () => {
    const [best] = await knowledge.search(tools[method], 'How many days of paid annual leave does an employee have?')
    assert.match(best.content, /twenty-five days/)
    const { source: name, page, document_id, type, headings, start, end } = best.metadata
    assert.equal([name, page, type, headings], ['leave.md', 1, 'md', 'Leave'])
    assert.is(document_id, (await knowledge.getDocument(source.id, 'leave.md')).id)
    assert.is(HANDBOOK['leave.md'].slice(start, end), best.content)
    assert.ok(best.score > 0 && best.score <= 1)
  })

  test(`${method} search sorts passages by score`, async () => {
    const scores = (await knowledge.search(tools[method], 'passwords of employees', { top_k: 100 })).map(({ score }) => score)
    assert.equal(
      scores,
      [...scores].sort((a, b) => b - a),
    )
  })

  test(`${method} search returns at most top_k passages`, async () => {
    const query = 'employee train passwords dishwasher badge'
    assert.is((await knowledge.search(tools[method], query, { top_k: 2 })).length, 2)
    assert.is((await knowledge.search(tools[method], query, { top_k: 100 })).length, 5)
  })

  test(`${method} search with explain returns ranks and timings`, async () => {
    const { results, timings } = await expectData(
      knowledge.service.post(`/retrieval-tools/${tools[method].id}/search`, { query: 'paid leave', explain: true }),
    )
    const { semantic_rank, full_text_rank, fused_score } = results[0].explain
    assert.is(semantic_rank, method === 'full_text' ? null : 1)
    assert.is(full_text_rank, method === 'semantic' ? null : 1)
    assert.is(fused_score, results[0].score)
    const stages = ['embed', 'semantic', 'full_text', 'fetch', 'total'].filter(
      (stage) => stage === 'total' || stage === 'fetch' || (stage === 'full_text' ? method !== 'semantic' : method !== 'full_text'),
    )
    assert.equal(Object.keys(timings).sort(), stages.sort())
    for (const ms of Object.values(timings) as number[]) assert.ok(ms >= 0)
    const plain = await expectData(knowledge.service.post(`/retrieval-tools/${tools[method].id}/search`, { query: 'paid leave' }))
    assert.not('timings' in plain || 'explain' in plain.results[0])
  })

  test(`${method} search accepts queries with special characters`, async () => {
    const odd = [
      '?',
      '"',
      "' OR 1=1 --",
      '((((',
      'AND OR NOT',
      '*',
      '+-:^~\\/',
      '\u{1f600}',
      'leave '.repeat(1_600),
      'x'.repeat(9_999),
      '\u0000leave',
      'a"b*c',
    ]
    for (const query of odd) await expectData(knowledge.service.post(`/retrieval-tools/${tools[method].id}/search`, { query }))
  })

  test(`${method} search finds no passages in an empty source`, async () => {
    const empty = await knowledge.createSource()
    const tool = await knowledge.createTool(empty.id, { search_method: method })
    assert.equal(await knowledge.search(tool, 'anything at all'), [])
    await knowledge.sync(empty.id)
    assert.equal(await knowledge.search(tool, 'anything at all'), [])
  })
}

test('unknown words have no full-text hits, while semantic search finds the nearest passages', async () => {
  assert.equal(await knowledge.searchNames(tools.full_text, 'zygomorphic quokka'), [])
  assert.is((await knowledge.searchNames(tools.semantic, 'holiday entitlement'))[0], 'leave.md')
  assert.is((await knowledge.searchNames(tools.hybrid, 'holiday entitlement'))[0], 'leave.md')
})

test('full-text and hybrid search find a code in any spelling', async () => {
  for (const query of ['XR-4471', 'xr4471', 'xr 4471', 'form XR-4471'])
    for (const method of ['full_text', 'hybrid'])
      assert.is((await knowledge.searchNames(tools[method], query))[0], 'codes.md', `${method} ${query}`)
})

test('passages below the score threshold are omitted', async () => {
  const query = 'paid annual leave'
  const all = await knowledge.search(tools.semantic, query, { top_k: 100 })
  const threshold = (all[0].score + all[1].score) / 2
  const strict = await knowledge.createTool(source.id, { search_method: 'semantic', score_threshold: threshold })
  assert.equal(
    (await knowledge.search(strict, query, { top_k: 100 })).map(({ content }) => content),
    [all[0].content],
  )
  const never = await knowledge.createTool(source.id, { search_method: 'full_text', score_threshold: 1 })
  assert.equal(await knowledge.search(never, query), [])
  assert.is(
    (
      await knowledge.search(await knowledge.createTool(source.id, { search_method: 'semantic', score_threshold: 0 }), query, {
        top_k: 100,
      })
    ).length,
    all.length,
  )
})

test('duplicate passages are returned once for each document', async () => {
  const notice =
    'The fire alarm is tested on the first Monday of every month at eleven in the morning, and nobody has to leave the building for it.'
  const padding = (word: string) => `${word} `.repeat(39)
  const again = await knowledge.createSyncedSource({
    'twice.md': `# One\n\n${notice}\n\n# Two\n\n${padding('filler')}\n\n# Three\n\n${notice}`,
    'copy.md': `# Copy\n\n${notice}`,
  })
  for (const method of METHODS) {
    const tool = await knowledge.createTool(again.id, { search_method: method, chunk_size: 300, chunk_overlap: 0 })
    await knowledge.waitForSync(again.id)
    const found = (await knowledge.search(tool, 'When is the fire alarm tested?', { top_k: 10 })).filter(({ content }) =>
      content.includes('fire alarm'),
    )
    assert.equal(found.map(({ metadata }) => metadata.source).sort(), ['copy.md', 'twice.md'], method)
  }
})

test('passages without a common word or meaning are marked as loose', async () => {
  const loose = async (method: string, query: string) =>
    (await knowledge.search(tools[method], query, { top_k: 1 })).map((passage) => passage.loose ?? false)
  for (const query of ['zzz', 'quantum chromodynamics'])
    assert.equal([await loose('semantic', query), await loose('hybrid', query)], [[true], [true]], query)
  assert.equal(await loose('hybrid', 'XR-4471'), [false], 'a word that means nothing to the model')
  assert.equal(await loose('hybrid', 'vacation of the staff'), [false], 'a meaning without its words')
  assert.equal(await loose('hybrid', '休暇'), [true], 'a language that the model does not know, and no word of it')
})

test('a tool with several sources searches all of them', async () => {
  const annex = await knowledge.createSyncedSource({
    'annex.md': 'The annex has its own reception and its own parking spaces.',
    'roof.md': 'The roof garden is open to everybody in summer.',
    'lift.md': 'The lift carries eight persons.',
    'post.md': 'Letters are collected at four.',
  })
  for (const method of METHODS) {
    const tool = await knowledge.createTool([source.id, annex.id], { search_method: method })
    await knowledge.waitForSync(source.id)
    await knowledge.waitForSync(annex.id)
    assert.is((await knowledge.searchNames(tool, 'parking spaces of the annex'))[0], 'annex.md', method)
    assert.is((await knowledge.searchNames(tool, 'paid annual leave'))[0], 'leave.md', method)
  }
})

test('a source deleted by force is no longer searched', async () => {
  const [one, two] = [
    await knowledge.createSyncedSource({ 'one.md': 'The orchard has pear trees.' }),
    await knowledge.createSyncedSource({ 'two.md': 'The orchard has plum trees.' }),
  ]
  const tool = await knowledge.createTool([one.id, two.id])
  await knowledge.waitForSync(one.id)
  await knowledge.waitForSync(two.id)
  await expectData(knowledge.service.delete(`/knowledge-sources/${one.id}?force=true`))
  assert.equal(await knowledge.searchNames(tool, 'orchard trees'), ['two.md'])
  await expectData(knowledge.service.delete(`/knowledge-sources/${two.id}?force=true`))
  assert.equal(await knowledge.searchNames(tool, 'orchard trees'), [])
})

test('fifty concurrent queries are answered during a sync', async () => {
  const busy = await knowledge.createSyncedSource({ 'first.md': 'The glacier retreats by nine metres a year.' })
  const methods = await Promise.all(METHODS.map((method) => knowledge.createTool(busy.id, { search_method: method })))
  await knowledge.waitForSync(busy.id)
  for (let at = 0; at < 120; at++)
    await knowledge.addDocument(busy.id, `${at}.md`, `Report ${at} on rivers, lakes and their shores. `.repeat(12))
  await knowledge.startSync(busy.id)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      knowledge.service.post(`/retrieval-tools/${methods[at % methods.length].id}/search`, {
        query: `How far does the glacier retreat? ${at}`,
        top_k: 3,
      }),
    ),
  )
  assert.equal(
    answers.map(({ status }) => status).filter((status) => status !== 200),
    [],
  )
  for (const { data } of answers) assert.is(data.results[0]?.metadata.source, 'first.md')
  assert.is((await knowledge.getSource(busy.id)).status, 'syncing', 'the queries were answered during the sync')
  assert.is((await knowledge.waitForSync(busy.id)).statistics.embedded, (await knowledge.getSource(busy.id)).statistics.chunks)
})

test('an empty or oversized query and an invalid top_k are rejected', async () => {
  const path = `/retrieval-tools/${tools.hybrid.id}/search`
  await expectError(knowledge.service.post(path, { query: '' }), 'VALIDATION_ERROR', { field: 'query' })
  await expectError(knowledge.service.post(path, { query: ' \n ' }), 'VALIDATION_ERROR', { field: 'query' })
  await expectError(knowledge.service.post(path, { query: 'x'.repeat(10_001) }), 'VALIDATION_ERROR', { field: 'query' })
  await expectError(knowledge.service.post(path, { query: 'x', top_k: 0 }), 'VALIDATION_ERROR', { field: 'top_k' })
})

test.run()
