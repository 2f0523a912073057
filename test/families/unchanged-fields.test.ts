import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FAMILIES } from '../../src/contract/routes.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { createSamples, type Sample } from '../harness/samples.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('unchanged fields')
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

for (const { name, path } of FAMILIES) {
  test(`${name}: an update accepts a resource as it was read`, async () => {
    const { create: make, change } = samples[name] as Sample
    const { id } = await make(0)
    const read = await expectData(server.get(`${path}/${id}`))
    for (const method of ['PUT', 'PATCH']) {
      const {
        updated_at: _,
        version: __,
        ...same
      } = await expectData(server.call(method, `${path}/${id}`, await expectData(server.get(`${path}/${id}`))))
      const { updated_at: ___, version: ____, ...before } = read
      assert.equal(same, before)
    }
    const changed = await expectData(server.put(`${path}/${id}`, { ...(await expectData(server.get(`${path}/${id}`))), ...change }))
    for (const [field, value] of Object.entries(change)) assert.equal(changed[field], value, field)
  })

  test(`${name}: a read-only field with another value is rejected`, async () => {
    const { id } = await (samples[name] as Sample).create(0)
    const read = await expectData(server.get(`${path}/${id}`))
    await expectError(server.put(`${path}/${id}`, { ...read, id: 'another' }), 'VALIDATION_ERROR', { field: 'id' })
    await expectError(server.put(`${path}/${id}`, { ...read, created_at: '2020-01-01T00:00:00.000Z' }), 'VALIDATION_ERROR', {
      field: 'created_at',
    })
    await expectError(server.put(`${path}/${id}`, { ...read, nobody: 1 }), 'VALIDATION_ERROR', { field: 'nobody' })
    assert.equal(await expectData(server.put(`${path}/${id}`, { id })), read)
    await expectError(server.put(`${path}/nobody`, { ...read, nobody: 1 }), 'NOT_FOUND')
  })
}

test('old values of fields that the daemon changes are accepted', async () => {
  const source = await resources.source()
  await server.database.write((transaction) =>
    transaction.run("UPDATE knowledge_sources SET status = 'error', error = 'x' WHERE id = ?", [source.id]),
  )
  await expectData(server.put(`/knowledge-sources/${source.id}`, { name: 'passed by' }))
  const renamed = await expectData(server.put(`/knowledge-sources/${source.id}`, { ...source, name: 'renamed' }))
  assert.equal([renamed.name, renamed.error], ['renamed', 'x'])
  await expectError(server.put(`/knowledge-sources/${source.id}`, { name: 'other', status: 'active' }), 'VALIDATION_ERROR', {
    field: 'status',
    error: /cannot be changed/,
  })

  const template = await resources.template()
  for (const name of ['one', 'two'])
    assert.is((await expectData(server.put(`/prompt-templates/${template.id}`, { ...template, name }))).name, name)
  const talk = await resources.conversation()
  await expectError(server.put(`/conversations/${talk.id}`, { ...talk, status: 'completed' }), 'VALIDATION_ERROR', { field: 'status' })
})

test('the text of a prompt template can be edited in the resource as it was read', async () => {
  const template = await resources.template({ template: 'Hello {{name}}' })
  const edited = await expectData(
    server.put(`/prompt-templates/${template.id}`, { ...template, template: 'Hello {{name}} of {{company}}' }),
  )
  assert.equal(edited.variables, ['name', 'company'])
  await expectError(server.put(`/prompt-templates/${template.id}`, { ...edited, variables: ['name'] }), 'VALIDATION_ERROR', {
    field: 'variables',
  })
})

test('an expired token can be sent back with another name', async () => {
  const { id } = await resources.token({ expires_at: '2099-01-01T00:00:00Z' })
  await server.database.write((transaction) =>
    transaction.run("UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000Z', version = version + 1 WHERE id = ?", [id]),
  )
  const expired = await expectData(server.put(`/tokens/${id}`, { name: 'expired' }))
  assert.is((await expectData(server.put(`/tokens/${id}`, { ...expired, name: 'renamed' }))).name, 'renamed')
  await expectError(server.put(`/tokens/${id}`, { ...expired, expires_at: '2021-01-01T00:00:00.000Z' }), 'VALIDATION_ERROR', {
    field: 'expires_at',
  })
})

test('a long conversation can be sent back with another title', async () => {
  const { id } = await resources.conversation()
  await server.database.write(async (transaction) => {
    for (const index of [1, 2, 3])
      await transaction.run("INSERT INTO messages VALUES (?, ?, 'user', ?, '{}', '2026-01-01T00:00:00.000Z')", [
        `msg_long_${index}`,
        id,
        'x'.repeat(500_000),
      ])
  })
  const long = await expectData(server.get(`/conversations/${id}`))
  assert.is((await expectData(server.put(`/conversations/${id}`, { ...long, title: 'Long' }))).title, 'Long')
})

test('sending back a resource keeps its secrets', async () => {
  const auth = { type: 'api_key', name: 'X-Key', value: 'hidden' }
  const tool = await resources.apiTool({ headers: { 'X-Other': 'hidden too' }, auth })
  const kept = async () => (await server.database.all('SELECT * FROM api_tools WHERE id = ?', [tool.id]))[0] as { secrets: string }
  const { secrets } = await kept()
  assert.ok(secrets)
  await expectData(server.put(`/api-tools/${tool.id}`, { ...tool, description: 'other' }))
  assert.is((await kept()).secrets, secrets)
  await expectError(server.put(`/api-tools/${tool.id}`, { ...tool, auth: { ...tool.auth, name: 'X-New' } }), 'VALIDATION_ERROR')

  const model = await resources.model({ api_key: 'sk-hidden' })
  assert.is((await expectData(server.put(`/models/${model.id}`, { ...model, name: 'Other' }))).has_api_key, true)
  await expectError(server.put(`/models/${model.id}`, { ...model, name: 'Other', has_api_key: false }), 'VALIDATION_ERROR', {
    field: 'has_api_key',
  })
})

test('a detached reference can be sent back as null', async () => {
  const tool = await resources.ragTool()
  await expectData(server.delete(`/knowledge-sources/${tool.knowledge_source_id}?force=true`))
  const detached = await expectData(server.get(`/rag-tools/${tool.id}`))
  assert.is(detached.knowledge_source_id, null)
  assert.is((await expectData(server.put(`/rag-tools/${tool.id}`, { ...detached, top_k: 7 }))).top_k, 7)
  await expectError(server.put(`/rag-tools/${(await resources.ragTool()).id}`, { knowledge_source_id: null }), 'VALIDATION_ERROR')
})

test('an editor can send back unchanged fields that only admins can set', async () => {
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
    await expectData(server.put(path, { ...(await expectData(server.get(path))), name: `${record.name}, renamed` }, { as: 'editor' }))
})

test.run()
