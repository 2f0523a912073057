import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FAMILIES } from '../../src/contract/routes.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { createSamples, type Sample } from '../harness/samples.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }

const test = suite('PATCH')
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

/** Applies each patch in turn and compares the named field. */
async function expectPatches(path: string, field: string, steps: [patch: unknown, expected: unknown][]): Promise<void> {
  for (const [patch, expected] of steps)
    assert.equal((await expectData(server.patch(path, { [field]: patch })))[field], expected, JSON.stringify(patch))
}

for (const { name, path, create } of FAMILIES) {
  test(`${name}: PATCH accepts a merge patch, with If-Match`, async () => {
    const { create: make, change } = samples[name] as Sample
    const { id } = await make(0)
    const { headers } = await server.get(`${path}/${id}`)
    const send = (type: string) =>
      server.patch(`${path}/${id}`, change, { headers: { 'content-type': type, 'if-match': String(headers.etag) } })
    const changed = await expectData(send('application/merge-patch+json; charset=utf-8'))
    for (const [field, value] of Object.entries(change)) assert.equal(changed[field], value, field)
    await expectError(send('application/merge-patch+json'), 'PRECONDITION_FAILED')
    await expectError(server.put(`${path}/${id}`, change, { headers: MERGE_PATCH }), 'UNSUPPORTED_MEDIA_TYPE', { error: /for PATCH/ })
    for (const raw of ['null', '[]', '"x"'])
      await expectError(server.patch(`${path}/${id}`, undefined, { raw, headers: MERGE_PATCH }), 'VALIDATION_ERROR')
  })

  test(`${name}: null restores the default of an optional field and is rejected for required ones`, async () => {
    const { create: make, change } = samples[name] as Sample
    const { id } = await make(0)
    const before = await expectData(server.get(`${path}/${id}`))
    await expectData(server.put(`${path}/${id}`, change))
    const { required = [], properties = {} } = create as { required?: string[]; properties?: object }
    const optional = Object.keys(change).filter((field) => !required.includes(field) && field !== 'name')
    for (const field of optional) {
      const { [field]: value } = await expectData(server.patch(`${path}/${id}`, { [field]: null }))
      assert.not.equal(value, change[field], field)
    }
    const isOptional = (field: string) => field in properties && !required.includes(field)
    const fixed = ['id', 'name', 'created_at', ...required].filter((field) => field in before && !isOptional(field))
    for (const field of [...fixed, 'nobody'])
      await expectError(server.patch(`${path}/${id}`, { [field]: null }), 'VALIDATION_ERROR', { field })
  })
}

test('objects in fields are merged, lists are replaced', async () => {
  const agent = await resources.agent({ variables: { city: 'Rome', team: { lead: 'Ada', size: 3 } }, topics: ['a', 'b'] })
  await expectPatches(`/agents/${agent.id}`, 'variables', [
    [{ team: { size: null, room: 7 } }, { city: 'Rome', team: { lead: 'Ada', room: 7 } }],
    [
      { city: null, list: [1] },
      { team: { lead: 'Ada', room: 7 }, list: [1] },
    ],
    [null, {}],
  ])
  await expectPatches(`/agents/${agent.id}`, 'topics', [[['c'], [{ name: 'c', description: '' }]]])
  await expectPatches(`/agents/${agent.id}`, 'tools', [[null, []]])

  const source = await resources.source({ configuration: { file_types: ['md'], max_file_size: 1000 } })
  await expectPatches(`/knowledge-sources/${source.id}`, 'configuration', [
    [
      { max_file_size: null, schedule: '0 3 * * *' },
      { file_types: ['md'], schedule: '0 3 * * *' },
    ],
    [{ file_types: ['pdf'] }, { file_types: ['pdf'], schedule: '0 3 * * *' }],
  ])
  await expectError(server.patch(`/knowledge-sources/${source.id}`, { configuration: { nobody: 1 } }), 'VALIDATION_ERROR')

  const found = await resources.retrievalTool({ filters: { team: 'sales', year: 2026 } })
  await expectPatches(`/retrieval-tools/${found.id}`, 'filters', [[{ year: null }, { team: 'sales' }]])

  const evaluation = await resources.evaluation({ scorers: ['exact', 'latency'] })
  await expectPatches(`/evaluations/${evaluation.id}`, 'scorers', [[null, [{ type: 'contains' }]]])

  const webhook = await resources.webhook({ enabled: false })
  await expectPatches(`/webhooks/${webhook.id}`, 'enabled', [[null, true]])

  const template = await resources.template({ template: '{{b}} {{a}}', variables: ['a', 'b'] })
  await expectPatches(`/prompt-templates/${template.id}`, 'variables', [[null, ['b', 'a']]])
})

test('PUT replaces objects in fields', async () => {
  const agent = await resources.agent({ variables: { a: 1, b: 2 } })
  assert.equal((await expectData(server.put(`/agents/${agent.id}`, { variables: { b: null } }))).variables, { b: null })
})

test('a value with several forms is merged, or replaced by another form', async () => {
  const { id } = await resources.model({ pricing: { input: 1, output: 2 } })
  await expectPatches(`/models/${id}`, 'pricing', [
    [{ output: 3 }, { input: 1, output: 3 }],
    [
      { input_per_1k: 4, output_per_1k: 5 },
      { input_per_1k: 4, output_per_1k: 5 },
    ],
    [null, null],
    [
      { input: 1, output: 2 },
      { input: 1, output: 2 },
    ],
  ])
  await expectError(server.patch(`/models/${id}`, { pricing: { output: null } }), 'VALIDATION_ERROR', { field: 'pricing.output' })
})

test('secrets are merged with what can be read', async () => {
  const sealed = async (id: string) =>
    (await server.database.get<{ secrets: string | null }>('SELECT secrets FROM api_tools WHERE id = ?', [id]))?.secrets
  const { id } = await resources.apiTool({
    parameters: { type: 'object', properties: { city: { type: 'string' }, day: { type: 'string' } } },
    headers: { 'X-One': 'one', 'X-Two': 'two' },
    auth: { type: 'api_key', name: 'X-Key', value: 'first' },
  })
  await expectPatches(`/api-tools/${id}`, 'parameters', [
    [{ properties: { day: null } }, { type: 'object', properties: { city: { type: 'string' } } }],
  ])
  const before = await sealed(id)
  await expectPatches(`/api-tools/${id}`, 'auth', [[{ value: 'second' }, { type: 'api_key', name: 'X-Key', in: 'header' }]])
  assert.not.equal(await sealed(id), before)
  // The stored value cannot be read, so it is not combined with another name.
  await expectError(server.patch(`/api-tools/${id}`, { auth: { name: 'X-Other' } }), 'VALIDATION_ERROR', { field: 'auth.value' })
  assert.equal((await expectData(server.patch(`/api-tools/${id}`, { headers: { 'X-Three': 'three' } }))).header_names, ['X-Three'])
  await expectPatches(`/api-tools/${id}`, 'auth', [
    [{ type: 'bearer', token: 'third' }, { type: 'bearer' }],
    [null, { type: 'none' }],
  ])
  assert.equal((await expectData(server.patch(`/api-tools/${id}`, { headers: null }))).header_names, [])
  assert.is(await sealed(id), null)
})

test('concurrent patches of different members are all kept', async () => {
  const { id } = await resources.agent()
  const names = Array.from({ length: 20 }, (_, index) => `v${index}`)
  await Promise.all(names.map((name) => expectData(server.patch(`/agents/${id}`, { variables: { [name]: name } }))))
  assert.equal(Object.keys((await expectData(server.get(`/agents/${id}`))).variables).sort(), names.sort())
})

test('the contract describes merge patches', async () => {
  const document: Json = (await server.get('/openapi.json')).body
  for (const { path } of FAMILIES) {
    const { content } = document.paths[`/api${path}/{id}`].patch.requestBody
    assert.equal(Object.keys(content), ['application/json', 'application/merge-patch+json'])
    const [name] = content['application/json'].schema.$ref.split('/').slice(-1)
    assert.match(name, /Patch$/)
  }
  const { pricing, name } = document.components.schemas.ModelPatch.properties
  assert.equal(name.type, 'string')
  assert.ok(JSON.stringify(pricing).includes('"null"') && !JSON.stringify(pricing).includes('"required"'))
})

test.run()
