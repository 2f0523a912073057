import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { type RecordingServer, startRecordingServer } from '../outbound/recording-server.ts'

const test = suite('requests of API tools')
let service: TestServer
let server: RecordingServer

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
    server = await startRecordingServer((_, reply) => reply.writeHead(200, { 'content-type': 'application/json' }).end('{"fine":true}'))
  }),
)
test.after(
  reportFailure(async () => {
    await service.close()
    await server.close()
  }),
)
test.before.each(() => {
  server.requests.length = 0
})

const schema = (...names: string[]) => ({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) })
const createTool = (fields: Json) =>
  service.post('/api-tools', { name: 'tool', allow_private_network: true, ...fields, url: server.origin + fields.url })
const callTool = async (fields: Json, args?: Json) =>
  service.post(`/api-tools/${(await expectData(createTool(fields))).id}/test`, args === undefined ? {} : { arguments: args })
const captureRequest = async (fields: Json, args?: Json) => {
  await expectData(callTool(fields, args), 200)
  const [request] = server.requests.splice(0)
  assert.ok(request)
  return request
}

test('GET and DELETE send arguments in the query, and lists as repeated parameters', async () => {
  const fields = { url: '/items/{id}?fixed=1', parameters: schema('id', 'q', 'tags', 'deep', 'none') }
  const args = { id: 'a/b', q: 'x y&z=1', tags: ['one', 'two&', null, 3], deep: { a: [1] }, none: null }
  for (const method of ['GET', 'DELETE']) {
    const request = await captureRequest({ ...fields, method }, args)
    assert.equal([request.method, request.body], [method, ''])
    assert.is(request.url, '/items/a%2Fb?fixed=1&q=x%20y%26z%3D1&tags=one&tags=two%26&tags=3&deep=%7B%22a%22%3A%5B1%5D%7D')
    assert.is(request.headers['content-type'], undefined)
  }
})

test('other methods send arguments as a JSON body, including null', async () => {
  for (const method of ['POST', 'PUT', 'PATCH']) {
    const request = await captureRequest(
      { url: '/items/{id}', method, parameters: schema('id', 'a', 'b') },
      { id: 5, a: { deep: ['ü'] }, b: null },
    )
    assert.equal([request.method, request.url, JSON.parse(request.body)], [method, '/items/5', { a: { deep: ['ü'] }, b: null }])
    assert.is(request.headers['content-type'], 'application/json')
  }
  assert.is((await captureRequest({ url: '/a', method: 'POST', parameters: schema('a') })).body, '{}')
  const bare = await captureRequest({ url: '/a', method: 'POST' })
  assert.equal([bare.body, bare.headers['content-type']], ['', undefined])
  const own = await captureRequest(
    { url: '/a', method: 'POST', parameters: schema('a'), headers: { 'Content-Type': 'application/vnd.api+json' } },
    { a: 1 },
  )
  assert.is(own.headers['content-type'], 'application/vnd.api+json')
})

test('an argument is sent at its location under its name there', async () => {
  const locations = {
    page: { in: 'query', name: 'page[number]' },
    ids: { in: 'query', style: 'comma' },
    filter: { in: 'query', style: 'brackets' },
    raw: { in: 'query', style: 'json' },
    trace: { in: 'header', name: 'X-Trace' },
    session: { in: 'cookie' },
    body_id: { in: 'body', name: 'id' },
  }
  const parameters = schema('id', 'rest', ...Object.keys(locations))
  const args = {
    id: 1,
    rest: 'r',
    page: 2,
    ids: ['a,b', 'c'],
    filter: { name: 'n', tags: ['x', 'y'], deep: { z: true } },
    raw: ['j'],
    trace: ['t', 'u'],
    session: 's; evil=1',
    body_id: 7,
  }
  const request = await captureRequest({ url: '/{id}', method: 'POST', parameters, locations, headers: { Cookie: 'kept=1' } }, args)
  const [path, query] = request.url.split('?')
  assert.is(path, '/1')
  assert.is(
    decodeURIComponent(query ?? ''),
    'page[number]=2&ids=a,b,c&filter[name]=n&filter[tags][]=x&filter[tags][]=y&filter[deep][z]=true&raw=["j"]',
  )
  assert.match(query ?? '', 'ids=a%2Cb,c')
  assert.equal([request.headers['x-trace'], request.headers.cookie], ['t, u', 'kept=1; session=s%3B%20evil%3D1'])
  assert.equal(JSON.parse(request.body), { rest: 'r', id: 7 })
})

test('a body can be a single argument or a form', async () => {
  const whole = { url: '/a', method: 'PUT', parameters: schema('list', 'q'), locations: { list: { in: 'whole_body' }, q: { in: 'query' } } }
  const request = await captureRequest(whole, { list: [1, { a: 2 }], q: 'x' })
  assert.equal([request.url, request.body], ['/a?q=x', '[1,{"a":2}]'])
  assert.is((await captureRequest(whole, { q: 'x' })).body, '')
  const form = {
    url: '/a',
    method: 'POST',
    body_format: 'form',
    parameters: schema('a', 'b', 'c'),
    locations: { c: { in: 'body', style: 'brackets' } },
  }
  const posted = await captureRequest(form, { a: 'x y&', b: [1, 2], c: { d: 'é' } })
  assert.equal([posted.body, posted.headers['content-type']], ['a=x%20y%26&b=1&b=2&c%5Bd%5D=%C3%A9', 'application/x-www-form-urlencoded'])
})

test('headers and authentication are sent', async () => {
  const request = await captureRequest({
    url: '/',
    headers: { 'X-Key': 'header-value', Accept: 'text/csv' },
    auth: { type: 'bearer', token: 'bearer-token' },
  })
  assert.equal(
    [request.headers['x-key'], request.headers.accept, request.headers.authorization],
    ['header-value', 'text/csv', 'Bearer bearer-token'],
  )
  assert.is(
    (await captureRequest({ url: '/', auth: { type: 'basic', username: 'ü', password: 'p:w' } })).headers.authorization,
    `Basic ${Buffer.from('ü:p:w').toString('base64')}`,
  )
  assert.is((await captureRequest({ url: '/', auth: { type: 'api_key', name: 'X-Api', value: 'v' } })).headers['x-api'], 'v')
  assert.is(
    (await captureRequest({ url: '/?a=1', auth: { type: 'api_key', name: 'key', in: 'query', value: 'a&b' } })).url,
    '/?a=1&key=a%26b',
  )
})

test('an argument cannot replace a header or key of the tool', async () => {
  const refusedCall = async (fields: Json, args: Json) => {
    await expectError(callTool(fields, args), 'VALIDATION_ERROR', { error: /reserved for the tool/ })
    assert.is(server.requests.length, 0)
  }
  const locations = { x: { in: 'header', name: 'X-Key' } }
  await refusedCall({ url: '/', parameters: schema('x'), locations, headers: { 'x-key': 'v' } }, { x: '1' })
  await refusedCall({ url: '/', parameters: schema('x'), locations, auth: { type: 'api_key', name: 'x-KEY', value: 'v' } }, { x: '1' })
  await refusedCall({ url: '/', parameters: schema('key'), auth: { type: 'api_key', name: 'key', in: 'query', value: 'v' } }, { key: '1' })
})

test('an argument cannot inject a header', async () => {
  const fields = { url: '/', parameters: schema('x'), locations: { x: { in: 'header', name: 'X-A' } } }
  for (const x of ['a\r\nX-B: c', 'a\nb', 'a\u0000b', 'ü'])
    await expectError(callTool(fields, { x }), 'VALIDATION_ERROR', { field: 'arguments.x' })
  assert.is(server.requests.length, 0)
})

test('invalid locations are rejected when the tool is created', async () => {
  const base = { url: '/{p}', parameters: schema('p', 'x', 'y') }
  for (const [locations, method = 'GET'] of [
    [{ z: { in: 'query' } }],
    [{ p: { in: 'query' } }],
    [{ x: { in: 'header', name: 'Host' } }],
    [{ x: { in: 'header', name: 'authorization' } }],
    [{ x: { in: 'header', name: 'Content-Type' } }],
    [{ x: { in: 'header', name: 'a b' } }],
    [{ x: { in: 'cookie', name: 'a;b' } }],
    [{ x: { in: 'body' } }],
    [{ x: { in: 'whole_body' } }, 'POST'],
    [{ x: { in: 'whole_body' }, y: { in: 'whole_body' } }, 'POST'],
    [{ x: { in: 'path' } }],
    [{ x: { in: 'query', style: 'pipes' } }],
    [{ x: 'query' }],
  ] as [Json, string?][])
    await expectError(createTool({ ...base, method, locations }), 'VALIDATION_ERROR')
  assert.equal((await expectData(createTool({ ...base, method: 'DELETE', locations: { x: { in: 'body' } } }))).locations, {
    x: { in: 'body' },
  })
})

test.run()
