import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FAMILIES } from '../../src/contract/routes.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { createSamples, type Sample } from '../harness/samples.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('whole resources')
let service: TestServer
let resources: Resources
let samples: Record<string, Sample>

test.before(
  aloud(async () => {
    service = await TestServer.start()
    resources = new Resources(service)
    samples = createSamples(resources)
  }),
)
test.after(aloud(() => service.close()))

for (const { name, path } of FAMILIES) {
  test(`${name}: what was read is taken back whole, and with a change in it`, async () => {
    const { create: make, change } = samples[name] as Sample
    const { id } = await make(0)
    const read = await expectData(service.get(`${path}/${id}`))
    for (const method of ['PUT', 'PATCH']) {
      const {
        updated_at: _,
        version: __,
        ...same
      } = await expectData(service.call(method, `${path}/${id}`, await expectData(service.get(`${path}/${id}`))))
      const { updated_at: ___, version: ____, ...before } = read
      assert.equal(same, before)
    }
    const changed = await expectData(service.put(`${path}/${id}`, { ...(await expectData(service.get(`${path}/${id}`))), ...change }))
    for (const [field, value] of Object.entries(change)) assert.equal(changed[field], value, field)
  })

  test(`${name}: a field that cannot be changed is refused with another value, or alone`, async () => {
    const { id } = await (samples[name] as Sample).create(0)
    const read = await expectData(service.get(`${path}/${id}`))
    await expectError(service.put(`${path}/${id}`, { ...read, id: 'another' }), 'VALIDATION_ERROR', { field: 'id' })
    await expectError(service.put(`${path}/${id}`, { ...read, created_at: '2020-01-01T00:00:00.000Z' }), 'VALIDATION_ERROR', {
      field: 'created_at',
    })
    await expectError(service.put(`${path}/${id}`, { ...read, nobody: 1 }), 'VALIDATION_ERROR', { field: 'nobody' })
    await expectError(service.put(`${path}/${id}`, { id }), 'VALIDATION_ERROR')
    await expectError(service.put(`${path}/nobody`, { ...read, nobody: 1 }), 'VALIDATION_ERROR')
  })
}

test('what the service wrote since it was read is no change; what it did not is', async () => {
  const source = await resources.source()
  await service.database.write((transaction) =>
    transaction.run("UPDATE knowledge_sources SET status = 'error', error = 'x' WHERE id = ?", [source.id]),
  )
  await expectData(service.put(`/knowledge-sources/${source.id}`, { name: 'passed by' }))
  const renamed = await expectData(service.put(`/knowledge-sources/${source.id}`, { ...source, name: 'renamed' }))
  assert.equal([renamed.name, renamed.error], ['renamed', 'x'])
  await expectError(service.put(`/knowledge-sources/${source.id}`, { name: 'other', status: 'active' }), 'VALIDATION_ERROR', {
    field: 'status',
    error: /cannot be changed/,
  })

  const template = await resources.template()
  for (const name of ['one', 'two'])
    assert.is((await expectData(service.put(`/prompt-templates/${template.id}`, { ...template, name }))).name, name)
  const talk = await resources.conversation()
  await expectError(service.put(`/conversations/${talk.id}`, { ...talk, status: 'completed' }), 'VALIDATION_ERROR', { field: 'status' })
})

test('secrets stay as they are when what is shown of them is sent back', async () => {
  const auth = { type: 'api_key', name: 'X-Key', value: 'hidden' }
  const tool = await resources.apiTool({ headers: { 'X-Other': 'hidden too' }, auth })
  const kept = async () => (await service.database.all('SELECT * FROM api_tools WHERE id = ?', [tool.id]))[0] as { secrets: string }
  const { secrets } = await kept()
  assert.ok(secrets)
  await expectData(service.put(`/api-tools/${tool.id}`, { ...tool, description: 'other' }))
  assert.is((await kept()).secrets, secrets)
  await expectError(service.put(`/api-tools/${tool.id}`, { ...tool, auth: { ...tool.auth, name: 'X-New' } }), 'VALIDATION_ERROR')

  const model = await resources.model({ api_key: 'sk-hidden' })
  assert.is((await expectData(service.put(`/models/${model.id}`, { ...model, name: 'Other' }))).has_api_key, true)
  await expectError(service.put(`/models/${model.id}`, { ...model, name: 'Other', has_api_key: false }), 'VALIDATION_ERROR', {
    field: 'has_api_key',
  })
})

test('what was detached may be sent back as nothing', async () => {
  const tool = await resources.ragTool()
  await expectData(service.delete(`/knowledge-sources/${tool.knowledge_source_id}?force=true`))
  const detached = await expectData(service.get(`/rag-tools/${tool.id}`))
  assert.is(detached.knowledge_source_id, null)
  assert.is((await expectData(service.put(`/rag-tools/${tool.id}`, { ...detached, top_k: 7 }))).top_k, 7)
  await expectError(service.put(`/rag-tools/${(await resources.ragTool()).id}`, { knowledge_source_id: null }), 'VALIDATION_ERROR')
})

test('an editor sends back what an admin set, as long as it stays so', async () => {
  const source = await resources.source({ configuration: { paths: ['/srv/documents'] } })
  const model = await resources.model({ api_key: 'sk-hidden', endpoint: 'http://127.0.0.1:9/v1' })
  const tool = await resources.apiTool({
    url: 'https://example.com/',
    auth: { type: 'bearer', token: 'hidden' },
    allow_private_network: true,
  })
  for (const [path, record] of [
    [`/knowledge-sources/${source.id}`, source],
    [`/models/${model.id}`, model],
    [`/api-tools/${tool.id}`, tool],
  ])
    await expectData(service.put(path, { ...(await expectData(service.get(path))), name: `${record.name}, renamed` }, { as: 'editor' }))
})

test.run()
