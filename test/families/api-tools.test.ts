import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('API tools')
let server: TestServer

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
  }),
)
test.after(reportFailure(() => server.close()))

const make = (fields: Record<string, unknown>) => server.post('/api-tools', { name: 'tool', url: 'https://api.example.com/', ...fields })
const sealed = async (id: string) =>
  (await server.database.get<{ secrets: string | null }>('SELECT secrets FROM api_tools WHERE id = ?', [id]))?.secrets

test('an API tool requires only a name and a URL', async () => {
  const { id: _, created_at: __, updated_at: ___, ...tool } = await expectData(make({}), 201)
  assert.equal(tool, {
    name: 'tool',
    description: '',
    url: 'https://api.example.com/',
    method: 'GET',
    parameters: { type: 'object', properties: {} },
    locations: {},
    body_format: 'json',
    timeout_ms: 30_000,
    allow_private_network: false,
    requires_confirmation: false,
    header_names: [],
    auth: { type: 'none' },
    expose_mcp: false,
  })
})

test('placeholders in path and query must be parameters', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' }, day: { type: 'string' } }, required: ['city'] }
  const tool = await expectData(make({ url: 'https://api.example.com/{city}?d={day}', parameters }))
  assert.equal([tool.url, tool.parameters], ['https://api.example.com/{city}?d={day}', parameters])
  await expectError(make({ url: 'https://api.example.com/{city}' }), 'VALIDATION_ERROR', { field: 'parameters', error: /city/ })
  await expectError(server.put(`/api-tools/${tool.id}`, { parameters: { type: 'object', properties: { city: {} } } }), 'VALIDATION_ERROR', {
    error: /day/,
  })
  await expectError(
    make({ url: 'https://api.example.com/{constructor}', parameters: { type: 'object', properties: {} } }),
    'VALIDATION_ERROR',
    {
      error: /constructor/,
    },
  )
})

test('placeholders in scheme, host, port or credentials of the URL are rejected', async () => {
  const parameters = { type: 'object', properties: { x: {} } }
  for (const url of [
    'https://{x}.example.com/',
    'https://{x}/',
    'https://example.com:{x}/',
    'https://example.com{x}/',
    'https://{x}@example.com/',
  ])
    await expectError(make({ url, parameters }), 'VALIDATION_ERROR', { field: 'url' })
  for (const url of [
    '{x}',
    'ftp://x.example/{x}',
    'https://u:p@x.example/',
    'https://x.example/{x',
    'https://x.example/x}',
    'https://x.example/{}',
    'https://x.example/{a b}',
    'https://',
    'file:///etc/passwd',
  ])
    await expectError(make({ url, parameters }), 'VALIDATION_ERROR', { field: 'url' })
})

test('parameters must be a JSON Schema of type object, of any draft', async () => {
  for (const $schema of [
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft-07/schema#',
    'https://example.com/unknown',
  ])
    await expectData(make({ parameters: { $schema, type: 'object', properties: {} } }), 201)
  for (const parameters of [
    { type: 'string' },
    { type: 'object', properties: 5 },
    { type: 'object', properties: { x: { type: 'nonsense' } } },
    { type: 'object', required: 'x' },
    { $schema: 7, type: 'object' },
    { properties: {} },
    [],
  ])
    await expectError(make({ parameters }), 'VALIDATION_ERROR')
})

test('a schema that references one definition 800 times is compiled', async () => {
  const fields = (count: number, field: object) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, field]))
  const definitions = { a: { type: 'object', properties: fields(300, { type: 'string', pattern: '^a' }) } }
  const parameters = { type: 'object', definitions, properties: fields(800, { $ref: '#/definitions/a' }) }
  await expectData(make({ parameters }), 201)
  await expectError(make({ parameters: { type: 'object', properties: fields(3_000, { type: 'string' }) } }), 'VALIDATION_ERROR', {
    error: /smaller than/,
  })
})

test('method, timeout and boolean fields of an API tool are validated', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) assert.is((await expectData(make({ method }))).method, method)
  for (const fields of [
    { method: 'TRACE' },
    { method: 'get' },
    { timeout_ms: 99 },
    { timeout_ms: 300_001 },
    { requires_confirmation: 'yes' },
    { allow_private_network: 1 },
  ])
    await expectError(make(fields), 'VALIDATION_ERROR', { field: Object.keys(fields)[0] as string })
  for (const timeout_ms of [100, 300_000]) await expectData(make({ timeout_ms }))
})

test('header and authentication values are never returned', async () => {
  const secrets = {
    headers: { 'X-Key': 'header-secret-1', Accept: 'text/plain' },
    auth: { type: 'basic', username: 'basic-user-2', password: 'basic-password-3' },
  }
  const created = await make(secrets)
  const { id } = created.data
  assert.equal([created.data.header_names, created.data.auth], [['X-Key', 'Accept'], { type: 'basic' }])
  for (const { text } of [
    created,
    await server.get(`/api-tools/${id}`),
    await server.get('/api-tools?limit=100'),
    await server.put(`/api-tools/${id}`, { name: 'y' }),
  ])
    assert.not.match(text, /header-secret-1|basic-user-2|basic-password-3/)
  assert.not.match((await sealed(id)) ?? '', /header-secret|basic-password/)
})

test('authentication is returned without its secret values', async () => {
  const createAuth = async (auth: unknown) => (await expectData(make({ auth }))).auth
  assert.equal(await createAuth({ type: 'none' }), { type: 'none' })
  assert.equal(await createAuth({ type: 'bearer', token: 't' }), { type: 'bearer' })
  assert.equal(await createAuth({ type: 'api_key', name: 'X-Key', value: 'v' }), { type: 'api_key', name: 'X-Key', in: 'header' })
  assert.equal(await createAuth({ type: 'api_key', name: 'key', value: 'v', in: 'query' }), { type: 'api_key', name: 'key', in: 'query' })
  for (const auth of [
    {},
    { type: 'oauth' },
    { type: 'bearer' },
    { type: 'bearer', token: '' },
    { type: 'none', token: 'x' },
    { type: 'basic', username: 'u' },
    { type: 'api_key', name: 'a b', value: 'v' },
    { type: 'api_key', name: 'a', value: 'v', in: 'cookie' },
    { type: 'bearer', token: 'a\r\nX: y' },
  ])
    await expectError(make({ auth }), 'VALIDATION_ERROR')
})

test('an update keeps secrets that it does not contain', async () => {
  const { id } = await expectData(make({ headers: { 'X-A': 'one' }, auth: { type: 'bearer', token: 'two' } }))
  const before = await sealed(id)
  await expectData(server.put(`/api-tools/${id}`, { description: 'x', timeout_ms: 200 }))
  assert.is(await sealed(id), before)
  const headers = await expectData(server.put(`/api-tools/${id}`, { headers: { 'X-B': 'three', 'X-C': 'four' } }))
  assert.equal([headers.header_names, headers.auth], [['X-B', 'X-C'], { type: 'bearer' }])
  const auth = await expectData(server.patch(`/api-tools/${id}`, { auth: { type: 'none' } }))
  assert.equal([auth.header_names, auth.auth], [['X-B', 'X-C'], { type: 'none' }])
  const none = await expectData(server.patch(`/api-tools/${id}`, { headers: {} }))
  assert.equal([none.header_names, await sealed(id)], [[], null])
})

test('connection headers and header values with control characters are rejected', async () => {
  for (const name of ['Host', 'content-length', 'Connection', 'Transfer-Encoding', 'upgrade', 'Expect', 'TE', 'Proxy-Authorization'])
    await expectError(make({ headers: { [name]: 'x' } }), 'VALIDATION_ERROR', { field: `headers.${name}` })
  for (const headers of [{ 'X-A': 'a\r\nX-B: c' }, { 'X-A': 'a\u0000b' }, { 'bad name': 'x' }, { '': 'x' }, { 'X-A': 5 }, ['x']])
    await expectError(make({ headers }), 'VALIDATION_ERROR')
})

test.run()
