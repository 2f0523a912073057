import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('permissions of API tools')
let service: TestServer
const editor = { as: 'editor' }

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
  }),
)
test.after(reportFailure(() => service.close()))

const plain = { name: 'tool', url: 'https://api.example.com/', requires_confirmation: true }
const bearer = { auth: { type: 'bearer', token: 'canary-token' } }
const header = { headers: { 'X-Key': 'canary-header' } }
const made = async (fields: object) => (await expectData(service.post('/api-tools', { ...plain, ...fields }), 201)).id as string
const change = (id: string, fields: object, as: { as: string } = editor) => service.put(`/api-tools/${id}`, fields, as)

/** Changes that redirect the secrets of a tool to another use. */
const USES: Record<string, object> = {
  'another host': { url: 'https://evil.example/' },
  'another scheme': { url: 'http://api.example.com/' },
  'another port': { url: 'https://api.example.com:8443/' },
  'a host with the same prefix': { url: 'https://api.example.com.evil.example/' },
  'another method': { method: 'DELETE' },
  'no confirmation': { requires_confirmation: false },
  'the host and the description': { url: 'https://evil.example/', description: 'x' },
}
const SECRETS: Record<string, { headers?: object; auth?: object }> = {
  'a token': bearer,
  'a header': header,
  'a token and a header': { ...bearer, ...header },
  'a key in the query': { auth: { type: 'api_key', name: 'key', value: 'canary-value', in: 'query' } },
}

for (const [kind, secrets] of Object.entries(SECRETS)) {
  test(`an editor may redirect a tool with ${kind} only by sending all secrets again`, async () => {
    for (const [use, fields] of Object.entries(USES)) {
      const id = await made(secrets)
      const before = await expectData(service.get(`/api-tools/${id}`))
      await expectError(change(id, fields), 'FORBIDDEN', { error: /^Only an admin may change .* unless the secrets are sent again\.$/ })
      for (const field of Object.keys(secrets))
        if (Object.keys(secrets).length > 1) await expectError(change(id, { ...fields, [field]: secrets[field as 'auth'] }), 'FORBIDDEN')
      assert.equal(await expectData(service.get(`/api-tools/${id}`)), before, use)
      await expectData(change(id, { ...fields, ...secrets }))
    }
  })
}

test('an editor may change a tool after removing its secrets', async () => {
  const id = await made({ ...bearer, ...header })
  await expectError(change(id, { url: 'https://evil.example/', auth: { type: 'none' } }), 'FORBIDDEN')
  const moved = await expectData(change(id, { url: 'https://evil.example/', auth: { type: 'none' }, headers: {} }))
  assert.equal([moved.auth, moved.header_names], [{ type: 'none' }, []])
})

test('an editor may change description, path, parameters and timeout of a tool with secrets', async () => {
  const id = await made(bearer)
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const fields = {
    name: 'w',
    description: 'Weather',
    url: 'https://api.example.com/v2/{city}',
    parameters,
    timeout_ms: 500,
    requires_confirmation: true,
  }
  const changed = await expectData(change(id, fields))
  assert.equal([changed.url, changed.auth], ['https://api.example.com/v2/{city}', { type: 'bearer' }])
  const open = await made({ ...bearer, requires_confirmation: false })
  assert.is((await expectData(change(open, { requires_confirmation: true }))).requires_confirmation, true)
})

test('only an admin may grant, revoke or redirect access to the private network', async () => {
  await expectError(service.post('/api-tools', { ...plain, allow_private_network: true }, editor), 'FORBIDDEN')
  const id = await made({ allow_private_network: true })
  for (const fields of [...Object.values(USES), { allow_private_network: false }])
    await expectError(change(id, fields), 'FORBIDDEN', { error: /Only an admin may/ })
  const keyed = await made({ ...bearer, allow_private_network: true })
  for (const fields of Object.values(USES)) await expectError(change(keyed, { ...fields, ...bearer }), 'FORBIDDEN')
  await expectData(change(id, { description: 'x', allow_private_network: true }))
  await expectData(change(id, { allow_private_network: false, url: 'https://other.example/' }, { as: 'admin' }))
})

test('an admin may change everything, and an editor everything of a tool without secrets', async () => {
  for (const fields of Object.values(USES)) {
    await expectData(change(await made({ ...bearer, ...header }), fields, { as: 'admin' }))
    await expectData(change(await made({}), fields))
  }
})

test('resource files and OpenAPI documents do not bypass the permissions', async () => {
  const id = await made({ ...bearer, name: 'keyed' })
  const apply = (fields: object) =>
    service.post('/apply', { resources: [{ family: 'api-tools', fields: { ...plain, name: 'keyed', ...fields } }] }, editor)
  for (const fields of Object.values(USES)) {
    await expectError(apply(fields), 'FORBIDDEN')
    await expectError(apply({ ...fields, auth: { type: 'bearer', token: { env: 'NOT_SET' } } }), 'FORBIDDEN')
  }
  const document = (verb: string) => ({
    openapi: '3.0.0',
    info: { title: 'T', version: '1' },
    servers: [{ url: 'https://api.example.com' }],
    paths: { '/': { [verb]: { operationId: 'keyed', responses: {} } } },
  })
  const bring = (verb: string, more: object = {}) =>
    service.post('/api-tools/import', { document: document(verb), update: true, ...more }, editor)
  await expectError(bring('delete'), 'FORBIDDEN')
  await expectError(bring('get', { requires_confirmation: false }), 'FORBIDDEN')
  assert.is((await expectData(bring('get'))).tools[0].id, id)
  const { method, url, requires_confirmation } = await expectData(service.get(`/api-tools/${id}`))
  assert.equal([method, url, requires_confirmation], ['GET', plain.url, true])
})

test.run()
