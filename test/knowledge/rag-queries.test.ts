import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'
import { KnowledgeFixture } from './knowledge-fixture.ts'

const test = suite('RAG queries')
let knowledge: KnowledgeFixture
let source: Json
let tool: Json

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    source = await knowledge.createSyncedSource({
      'leave.md': '# Leave\n\nEvery employee has twenty-five days of paid annual leave. Leave that is not taken by March is lost.',
      'travel.md': '# Travel\n\nTrips by train are booked in second class. Flights need the consent of the head of department.',
      'security.md': '# Security\n\nPasswords have at least fourteen characters. They are changed when they may be known to others.',
      'office.md': '# Office\n\nThe office is open from seven in the morning to eight in the evening.',
    })
    tool = await knowledge.resources.ragTool({ knowledge_source_id: source.id })
    await knowledge.waitForSync(source.id)
  }),
)
test.after(reportFailure(() => knowledge.close()))

const ask = async (query: string, more: Record<string, unknown> = {}) =>
  expectData(knowledge.service.post(`/rag-tools/${tool.id}/query`, { query, ...more }))

for (const [question, fact, name] of [
  ['How many days of annual leave do I have?', /twenty-five days/, 'leave.md'],
  ['Who must agree to a flight?', /head of department/, 'travel.md'],
  ['How long must a password be?', /fourteen characters/, 'security.md'],
  ['When does the office open?', /seven in the morning/, 'office.md'],
] as const) {
  test(`${question} is answered with a quote and the number of its passage`, async () => {
    const { query, answer, results, confidence } = await ask(question)
    assert.is(query, question)
    assert.match(answer, /“.+” \[\d\]/)
    assert.match(answer, fact)
    assert.is(confidence, answer.startsWith('Probably:') ? 'probable' : 'certain')
    const cited = [...answer.matchAll(/\[(\d+)\]/g)].map(([, number]) => results[Number(number) - 1])
    assert.ok(cited.length > 0)
    for (const passage of cited) assert.ok(passage, 'every number is that of a passage')
    const right = cited.find(({ metadata }) => metadata.source === name)
    assert.match(right?.content ?? '', fact)
  })
}

test('a list whose items are headings in the next passages is quoted with all of them', async () => {
  const describe = (name: string) => `### ${name}\n\n${`${name} is explained here at some length. `.repeat(20)}`
  const systems = ['Anchor', 'Beacon', 'Compass'].map(describe).join('\n\n')
  const lead = 'Everybody has an account for our internal systems:'
  const text = `# Work\n\n## Internal systems\n\n${lead}\n\n${systems}\n\n## Rooms\n\nThey are blue.`
  const { id } = await knowledge.createSyncedSource({ 'work.md': text })
  const lists = await knowledge.resources.ragTool({ knowledge_source_id: id })
  await knowledge.waitForSync(id)
  const { answer } = await expectData(knowledge.service.post(`/rag-tools/${lists.id}/query`, { query: 'List all internal systems' }))
  assert.match(answer, /“.*internal systems:?” \[\d\] \(3 items\)\n\n- Anchor\n- Beacon\n- Compass$/i)
})

test('steps that several passages contain are quoted from the first to the last', async () => {
  const describe = (name: string, index: number) =>
    `${index + 1}. ${name} the machine. ${'Take your time, because it is heavy. '.repeat(8)}`
  const steps = ['Stop', 'Unplug', 'Open', 'Empty', 'Clean', 'Close', 'Start'].map(describe)
  const text = `# Workshop\n\n## Cleaning the machine\n\n${steps.join('\n')}\n\n## Rooms\n\nThey are blue.`
  const { id } = await knowledge.createSyncedSource({ 'workshop.md': text })
  const tool = await knowledge.resources.ragTool({ knowledge_source_id: id })
  const query = 'What are the steps of cleaning the machine?'
  const { answer } = await expectData(knowledge.service.post(`/rag-tools/${tool.id}/query`, { query }))
  assert.match(answer, /“Cleaning the machine” \[\d\] \(7 items\)\n\n1\. Stop the machine\..*\n2\. Unplug .*\n(?:.*\n){4}7\. Start /)
})

for (const question of [
  'What is the boiling point of tungsten?',
  'Who won the football world cup in 1990?',
  'How do I bake sourdough bread?',
  'zzz qqq xxyy',
]) {
  test(`${question} is refused, with the number of documents and the closest passages`, async () => {
    const { answer, results, confidence } = await ask(question)
    assert.is(confidence, 'none')
    const [refusal, ...closest] = answer.split(/\n+/)
    assert.is(refusal, `I found no answer in 4 documents.${results.length === 0 ? '' : ' The closest passages:'}`)
    assert.is(closest.length, Math.min(results.length, 3))
    for (const line of closest) {
      const [, quote = '', number] = /^- \w+: “(.+)” \[(\d)\]$/.exec(line) ?? []
      assert.match(results[Number(number) - 1]?.content ?? '', quote)
    }
  })
}

test('top_k limits the number of passages', async () => {
  assert.is((await ask('paid leave', { top_k: 1 })).results.length, 1)
  assert.is((await ask('paid leave', { top_k: 50 })).results.length, 4)
})

test('a query on an empty source is refused', async () => {
  const empty = await knowledge.resources.ragTool()
  const { results, answer } = await expectData(knowledge.service.post(`/rag-tools/${empty.id}/query`, { query: 'anything' }))
  assert.equal(results, [])
  assert.is(answer, 'I found no answer in 0 documents.')
})

test('a filter that matches no document is named', async () => {
  const { results, answer } = await ask('paid leave', { filters: { source: 'other.md' } })
  assert.equal(results, [])
  assert.is(answer, 'No document matches the filter.')
})

test('a deleted document is no longer quoted', async () => {
  const other = await knowledge.createSyncedSource({ 'secret.md': 'The launch code is four eight fifteen.' })
  const asking = await knowledge.resources.ragTool({ knowledge_source_id: other.id })
  await knowledge.waitForSync(other.id)
  const query = { query: 'What is the launch code?' }
  assert.match((await expectData(knowledge.service.post(`/rag-tools/${asking.id}/query`, query))).answer, /four eight fifteen/)
  await expectData(
    knowledge.service.delete(`/knowledge-sources/${other.id}/documents/${(await knowledge.getDocument(other.id, 'secret.md')).id}`),
  )
  assert.match(
    (await expectData(knowledge.service.post(`/rag-tools/${asking.id}/query`, query))).answer,
    /^I found no answer in 0 documents/,
  )
})

test('a query to a tool whose source was deleted is rejected', async () => {
  const other = await knowledge.createSource()
  const asking = await knowledge.resources.ragTool({ knowledge_source_id: other.id })
  await expectError(knowledge.service.delete(`/knowledge-sources/${other.id}`), 'CONFLICT')
  await expectData(knowledge.service.delete(`/knowledge-sources/${other.id}?force=true`))
  await expectError(knowledge.service.post(`/rag-tools/${asking.id}/query`, { query: 'anything' }), 'CONFLICT', {
    error: /source of this tool was deleted/,
    hint: /knowledge_source_id/,
  })
})

test.run()
