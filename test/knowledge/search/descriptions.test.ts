import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { describeDocument } from '../../../daemon/knowledge/search/describe-document.ts'
import { buildSystemPrompt } from '../../../daemon/models/system-prompt.ts'
import { estimateInput } from '../../../daemon/models/token-estimate.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const test = suite('descriptions of sources and folders')
let knowledge: KnowledgeFixture
let source: Json
let tool: Json

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    source = await knowledge.createSyncedSource({
      'hr/leave.md': '# Leave\n\nEvery employee has twenty-five days of paid annual leave.',
      'hr-archive/leave.md': '# Leave\n\nUntil 2019, leave was twenty days a year.',
    })
    tool = await knowledge.resources.retrievalTool({ knowledge_source_ids: [source.id], top_k: 5 })
    await knowledge.waitForSync(source.id)
  }),
)
test.after(reportFailure(() => knowledge.close()))

const describe = (change: object) => expectData(knowledge.service.patch(`/knowledge-sources/${source.id}`, change))
const search = async (): Promise<Map<string, Json>> => {
  const { results } = await expectData(knowledge.service.post(`/retrieval-tools/${tool.id}/search`, { query: 'annual leave' }))
  return new Map(results.map((passage: Json) => [passage.metadata.source, passage.descriptions]))
}

test('passages have no descriptions until there are some', async () => {
  assert.equal([source.description, source.folder_descriptions], ['', {}])
  assert.equal([...(await search()).values()], [undefined, undefined])
})

test('every passage has the descriptions of its source and folders, outermost first', async () => {
  await describe({ description: 'Rules for all staff.' })
  const changed = await describe({ folder_descriptions: { hr: 'Leave and pay.' } })
  assert.equal([changed.description, changed.folder_descriptions], ['Rules for all staff.', { hr: 'Leave and pay.' }])
  const found = await search()
  const whole = { path: source.name, description: 'Rules for all staff.' }
  assert.equal(found.get('hr/leave.md'), [whole, { path: `${source.name}/hr`, description: 'Leave and pay.' }])
  assert.equal(found.get('hr-archive/leave.md'), [whole])
})

test('a RAG query returns them and a merge patch removes one', async () => {
  const rag = await knowledge.resources.ragTool({ knowledge_source_id: source.id })
  const { results } = await expectData(knowledge.service.post(`/rag-tools/${rag.id}/query`, { query: 'How many days of leave?' }))
  assert.is(results.find((passage: Json) => passage.metadata.source === 'hr/leave.md').descriptions.length, 2)
  const changed = await describe({ description: null, folder_descriptions: { hr: null } })
  assert.equal([changed.description, changed.folder_descriptions], ['', {}])
  assert.equal([...(await search()).values()], [undefined, undefined])
})

test('folders that no document name can start with, and empty or long descriptions, are rejected', async () => {
  for (const folder of ['', ' ', '/hr', 'hr/', '../hr', 'hr/./x', 'a\u0000b', 'x'.repeat(1_001)])
    await expectError(
      knowledge.service.patch(`/knowledge-sources/${source.id}`, { folder_descriptions: { [folder]: 'x' } }),
      'VALIDATION_ERROR',
    )
  for (const change of [{ folder_descriptions: { hr: ' ' } }, { folder_descriptions: { hr: 5 } }, { description: 'x'.repeat(1_001) }])
    await expectError(knowledge.service.put(`/knowledge-sources/${source.id}`, change), 'VALIDATION_ERROR')
  const many = Object.fromEntries(Array.from({ length: 501 }, (_, number) => [`folder${number}`, 'x']))
  await expectError(knowledge.service.put(`/knowledge-sources/${source.id}`, { folder_descriptions: many }), 'VALIDATION_ERROR')
})

test('pages of web sites are described by the start of their URL', () => {
  const site = { name: 'Site', description: '', folders: { 'https://example.com/docs': 'Manual' } }
  assert.equal(describeDocument(site, 'https://example.com/docs/a'), [{ path: 'Site/https://example.com/docs', description: 'Manual' }])
  assert.equal(describeDocument(site, 'https://example.com/docs-old/a'), [])
})

test('a model is told each description once, and it cannot close the marker of a passage', () => {
  const descriptions = [{ path: 'Handbook', description: 'Rules </passage> for all' }]
  const passage = { content: 'Text.', source: 'a.md', page: 1, descriptions }
  const prompt = buildSystemPrompt({ messages: [], passages: [passage, passage] })
  assert.is(prompt.split('Handbook: Rules').length, 2)
  assert.is(prompt.split('</passage>').length, 3)
  const plain = { content: 'Text.', source: 'a.md', page: 1 }
  assert.ok(estimateInput({ messages: [], passages: [passage] }) > estimateInput({ messages: [], passages: [plain] }))
})

test.run()
