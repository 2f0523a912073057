import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatPlace, limitPlaces } from '../../daemon/core/places.ts'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'
import { KnowledgeFixture } from './knowledge-fixture.ts'
import { loadFixture } from './readers/office/fixtures.ts'

const test = suite('places of passages')
let knowledge: KnowledgeFixture
let source: Json
let tool: Json

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    source = await knowledge.createSource()
    for (const name of ['budget.xlsx', 'expansion.pptx', 'rules.odt']) {
      const document = { name, content_base64: loadFixture(name).toString('base64'), index: false }
      await expectData(knowledge.service.post(`/knowledge-sources/${source.id}/documents`, document), 201)
    }
    tool = await knowledge.createTool(source.id, { search_method: 'full_text', top_k: 1 })
    await knowledge.sync(source.id)
  }),
)
test.after(reportFailure(() => knowledge.close()))

for (const [query, place, page] of [
  ['insurance delay', 'slide 3', 3],
  ['Grace Hopper salary', 'sheet Salaries (hidden)', 2],
  ['glass Friday', undefined, 2],
] as const)
  test(`"${query}" is found in ${place ?? `page ${page}`}`, async () => {
    const [found] = await knowledge.search(tool, query)
    assert.equal([found?.metadata.place, found?.metadata.page], [place, page])
  })

test('documents have the number of their slides and sheets', async () => {
  const documents = await knowledge.documents(source.id)
  assert.equal(documents.map(({ name, pages }) => [name, pages]).sort(), [
    ['budget.xlsx', 3],
    ['expansion.pptx', 3],
    ['rules.odt', 2],
  ])
})

test('a filter by page finds a slide', async () => {
  const [found] = await knowledge.search(tool, 'Porto', { filters: { page: 3 } })
  assert.is(found?.metadata.place, 'slide 3')
})

test('pages are only named if their text was recognised', () => {
  const places = { kind: 'page', recognized: [2] } as const
  assert.equal([formatPlace(null, 1), formatPlace(places, 1), formatPlace(places, 2)], [undefined, undefined, 'page 2, recognised text'])
  assert.is(formatPlace({ kind: 'mail', names: ['Lunch'] }, 2), 'mail 2')
})

test('the names that are stored with a document are limited', () => {
  const { names = [] } = limitPlaces({ kind: 'mail', names: Array<string>(5_000).fill('x'.repeat(1_000)) })
  assert.equal([names.length, names[0]?.length], [1_000, 100])
})

test.run()
