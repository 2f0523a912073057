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

/** Changes that redirect the secrets of a tool to another server. */
const SERVERS: Record<string, object> = {
  'another host': { url: 'https://evil.example/' },
  'another scheme': { url: 'http://api.example.com/' },
  'another port': { url: 'https://api.example.com:8443/' },
  'a host with the same prefix': { url: 'https://api.example.com.evil.example/' },
  'the host and the description': { url: 'https://evil.example/', description: 'x' },
}
/** Changes that redirect the secrets of a tool to another use. */
const USES: Record<string, object> = {
  ...SERVERS,
  'another method': { method: 'DELETE' },
  'no confirmation': { requires_confirmation: false },
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
      const code = use in SERVERS ? 'VALIDATION_ERROR' : 'FORBIDDEN'
      const error =
        use in SERVERS
          ? /must be sent again, because the value was set for/
          : /^Only an admin may change .* unless the secrets are sent again\.$/
      await expectError(change(id, fields), code, { error })
      for (const field of Object.keys(secrets))
        if (Object.keys(secrets).length > 1) await expectError(change(id, { ...fields, [field]: secrets[field as 'auth'] }), code)
      assert.equal(await expectData(service.get(`/api-tools/${id}`)), before, use)
      await expectData(change(id, { ...fields, ...secrets }))
    }
  })
}

test('an editor may change a tool after removing its secrets', async () => {
  const id = await made({ ...bearer, ...header })
  await expectError(change(id, { url: 'https://evil.example/', auth: { type: 'none' } }), 'VALIDATION_ERROR', { field: 'headers.X-Key' })
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

test('an admin may change everything but the server of secrets, and an editor everything of a tool without secrets', async () => {
  for (const [use, fields] of Object.entries(USES)) {
    const changed = change(await made({ ...bearer, ...header }), fields, { as: 'admin' })
    await (use in SERVERS
      ? expectError(changed, 'VALIDATION_ERROR', { error: /^headers\.X-Key, auth: must be sent again/ })
      : expectData(changed))
    await expectData(change(await made({}), fields))
  }
})

test('secrets must be sent again when the url leaves the path that they were set for', async () => {
  const parameters = { type: 'object', properties: { id: {}, part: {} } }
  const bound = (url: string) => made({ url, parameters, headers: { 'X-Key': 'canary-header', Accept: 'text/plain' } })
  const origin = 'https://api.example.com'
  const scopes: Record<string, { inside: string[]; outside: string[] }> = {
    '/v1/orders': {
      inside: ['/v1/orders?x=1', '/v1/orders/', '/v1/orders/{id}', '/v1/orders/open/{id}?part={part}', '/v1/./orders', '/v1/orders#x'],
      outside: ['/echo', '/v1', '/v1/', '/v1/ordersecho', '/v1/orders/../echo', '/v1/orders/{id}/../../echo', '/V1/orders'],
    },
    '/v1/orders/{id}': { inside: ['/v1/orders/open', '/v1/orders/{part}/items'], outside: ['/v1/orders', '/v1/echo', '/v1/{id}'] },
    '/v1/o-{id}': { inside: ['/v1/o-{id}', '/v1/o-1'], outside: ['/v1/p-{id}', '/v1/o'] },
    '/': { inside: ['/v1/anything', '/{id}'], outside: [] },
  }
  for (const [path, { inside, outside }] of Object.entries(scopes)) {
    for (const next of inside) await expectData(change(await bound(origin + path), { url: origin + next }))
    const evasions = ['/..%2fecho', '/%2e%2e/echo', '/..;/echo', '/..%5cecho', '/%252e%252e/echo', '/\\../../../echo'].map(
      (end) => path + end,
    )
    for (const next of [...outside, ...(path === '/v1/orders' ? evasions : [])])
      for (const as of ['editor', 'admin'])
        await expectError(change(await bound(origin + path), { url: origin + next }, { as }), 'VALIDATION_ERROR', {
          field: 'headers.X-Key',
          error: /^headers\.X-Key: must be sent again, because the value was set for https:\/\/api\.example\.com\//,
          hint: /Send the values/,
        })
  }
  const id = await bound(`${origin}/v1/orders`)
  const moved = await expectData(change(id, { url: `${origin}/v2/orders`, headers: { 'X-Key': 'canary-again' } }))
  assert.equal([moved.url, moved.header_names], [`${origin}/v2/orders`, ['X-Key']])
  const accept = await made({ url: `${origin}/v1`, headers: { Accept: 'text/plain' } })
  await expectData(change(accept, { url: `${origin}/v2` }))
})

test('files and OpenAPI documents also have to contain the secrets for another path', async () => {
  const fields = { ...plain, name: 'bound', url: 'https://api.example.com/a', ...header }
  const apply = (more: object) =>
    service.post('/apply', { resources: [{ family: 'api-tools', fields: { ...fields, ...more } }] }, { as: 'admin' })
  await expectData(apply({}))
  const unset = { headers: { 'X-Key': { env: 'NOT_SET' } } }
  await expectError(apply({ url: 'https://api.example.com/b', ...unset }), 'VALIDATION_ERROR', {
    error: /headers\.X-Key: must be sent again/,
  })
  assert.is((await expectData(apply({ url: 'https://api.example.com/b' }))).changes[0].action, 'update', 'the same value was sent')
  assert.is((await expectData(apply({ url: 'https://api.example.com/b', ...unset }))).changes[0].action, 'unchanged')
  const paths = { '/c': { get: { operationId: 'bound', responses: {} } } }
  const document = { openapi: '3.0.0', info: { title: 'T', version: '1' }, servers: [{ url: 'https://api.example.com' }], paths }
  const { tools, skipped } = await expectData(service.post('/api-tools/import', { document, update: true }))
  assert.equal([tools.length, skipped.length], [0, 1])
  assert.match(skipped[0].reason, /headers\.X-Key: must be sent again/)
  const sent = await expectData(service.post('/api-tools/import', { document, update: true, ...header }))
  assert.is(sent.tools[0].url, 'https://api.example.com/c')
})

test('resource files and OpenAPI documents do not bypass the permissions', async () => {
  const id = await made({ ...bearer, name: 'keyed' })
  const apply = (fields: object) =>
    service.post('/apply', { resources: [{ family: 'api-tools', fields: { ...plain, name: 'keyed', ...fields } }] }, editor)
  for (const [use, fields] of Object.entries(USES)) {
    const code = use in SERVERS ? 'VALIDATION_ERROR' : 'FORBIDDEN'
    await expectError(apply(fields), code)
    await expectError(apply({ ...fields, auth: { type: 'bearer', token: { env: 'NOT_SET' } } }), code)
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
