import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FAMILIES } from '../../src/contract/routes.ts'
import { getFields } from '../../src/contract/schemas/fields.ts'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { createSamples, type Sample } from '../harness/samples.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const EXPECTED = ['Agent', 'agent 2', 'Agent 10', 'Äpfel', 'banana', 'Éclair', 'fig 9', 'Fig 11', 'Zoo']

const test = suite('order of lists')
let server: TestServer
let resources: Resources
let samples: Record<string, Sample>

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
    samples = createSamples(resources)
  }),
)
test.after(reportFailure(() => server.close()))

/** Reads the names of a list in pages of two. */
async function listNames(path: string, order: string): Promise<string[]> {
  const names: string[] = []
  for (let page = 1; ; page++) {
    const { body } = await server.get(`${path}?sort=name&order=${order}&limit=2&page=${page}`)
    names.push(...body.data.map(({ name }: Json) => name))
    if (page >= body.pagination.pages) return names
  }
}

/** Their names follow rules. */
const RESTRICTED = ['mcp-servers', 'mcp-tools']

for (const { name: family, path } of FAMILIES.filter(({ name, resource }) => 'name' in getFields(resource) && !RESTRICTED.includes(name)))
  test(`${family}: names are sorted as people expect, on every page`, async () => {
    for (const { id } of await expectData(server.get(`${path}?limit=100`))) await server.delete(`${path}/${id}?force=true`)
    const kept = await listNames(path, 'asc') // the embedded model, and tokens in use
    for (const name of [...EXPECTED].sort()) {
      const { id } = await (samples[family] as Sample).create(0)
      await expectData(server.patch(`${path}/${id}`, { name }))
    }
    const created = (names: readonly string[]) => names.filter((name) => !kept.includes(name))
    assert.equal(created(await listNames(path, 'asc')), EXPECTED)
    assert.equal(created(await listNames(path, 'desc')), [...EXPECTED].reverse())
    for (const name of ['Éclair', 'agent 2'])
      assert.equal((await expectData(server.get(`${path}?name=${encodeURIComponent(name)}`))).length, 1, name)
    assert.equal(await expectData(server.get(`${path}?name=eclair`)), [])
  })

test('documents are sorted like names', async () => {
  const { id } = await resources.source()
  const expected = ['Chapter 2/page 9.md', 'chapter 2/page 10.md', 'chapter 10/page 1.md', 'Readme.md']
  for (const name of [...expected].sort()) await resources.document({ name }, id)
  assert.equal(await listNames(`/knowledge-sources/${id}/documents`, 'asc'), expected)
})

test('a sorted page is read from an index', async () => {
  const plan = await server.database.all<{ detail: string }>(
    'EXPLAIN QUERY PLAN SELECT id FROM agents ORDER BY name_key, created_at, id LIMIT 20',
  )
  assert.match(plan.map(({ detail }) => detail).join('; '), /USING COVERING INDEX agents_by_name$/)
})

test.run()
