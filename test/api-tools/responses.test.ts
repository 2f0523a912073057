import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { type RecordingServer, startRecordingServer } from '../outbound/recording-server.ts'

const test = suite('responses of API tools')
let service: TestServer
let server: RecordingServer
let other: RecordingServer

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
    server = await startRecordingServer()
    other = await startRecordingServer()
  }),
)
test.after(
  reportFailure(async () => {
    await service.close()
    await server.close()
    await other.close()
  }),
)
test.before.each(() => {
  server.requests.length = other.requests.length = 0
})

const createTool = async (fields: Json = {}) =>
  expectData(service.post('/api-tools', { name: 'tool', url: `${server.origin}/`, allow_private_network: true, ...fields }))
const callTool = async (fields: Json = {}, options = {}) => service.post(`/api-tools/${(await createTool(fields)).id}/test`, {}, options)
const respondWith = (body: string | Uint8Array, type?: string, status = 200, headers: Record<string, string> = {}) => {
  server.listener = (_, reply) => reply.writeHead(status, { ...(type ? { 'content-type': type } : {}), ...headers }).end(body)
}
const getBody = async (body: string | Uint8Array, type?: string) => {
  respondWith(body, type)
  return (await expectData(callTool())).body
}

test('a test call returns status, headers, body and latency', async () => {
  respondWith('{"a":[1,null,"ü"]}', 'application/json', 200, { 'X-Tea': 'green' })
  const { status, headers, body, latency_ms } = await expectData(callTool(), 200)
  assert.equal([status, headers['x-tea'], body], [200, 'green', { a: [1, null, 'ü'] }])
  assert.ok(latency_ms > 0 && latency_ms < 30_000)
})

test('an error status is a valid result', async () => {
  for (const status of [201, 400, 401, 404, 429, 500, 503]) {
    respondWith(`{"error":"no"}`, 'application/problem+json', status)
    assert.equal([(await expectData(callTool(), 200)).status, (await expectData(callTool())).body], [status, { error: 'no' }])
  }
  respondWith('', undefined, 204)
  assert.equal([(await expectData(callTool())).status, (await expectData(callTool())).body], [204, null])
})

test('JSON is parsed, and text is decoded in its character set', async () => {
  assert.equal(await getBody('[1]', 'application/vnd.api+json; charset=utf-8'), [1])
  assert.equal(await getBody('{"a":1}'), { a: 1 }, 'without a content type')
  assert.is(await getBody('{"a":1}', 'text/plain'), '{"a":1}')
  assert.is(await getBody('{"a":', 'application/json'), '{"a":')
  assert.is(await getBody('<p>é</p>', 'text/html; charset=UTF-8'), '<p>é</p>')
  assert.is(await getBody(Buffer.from('caf\xe9', 'latin1'), 'text/plain; charset=iso-8859-1'), 'café')
  assert.is(await getBody(Buffer.from('\x935 \x80\x94', 'latin1'), 'text/plain; charset=windows-1252'), '“5 €”')
  assert.is(await getBody(Buffer.from('caf\xe9 5 \x80', 'latin1'), 'text/plain'), 'café 5 €')
  assert.is(await getBody(Buffer.from('日本', 'utf16le'), 'text/plain; charset="utf-16le"'), '日本')
  assert.is(await getBody('plain', 'text/plain; charset=nonsense'), 'plain')
  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  assert.is(await getBody(deep, 'application/json'), deep)
})

test('binary responses are rejected', async () => {
  for (const [bytes, type] of [
    [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]), 'image/png'],
    [Buffer.from('%PDF-1.7'), 'application/pdf'],
    [Buffer.from([1, 0, 2]), 'application/octet-stream'],
    [Buffer.from([0xff, 0xfe, 0xfd]), 'application/x-thing'],
    [gzipSync('x'), undefined],
  ] as [Buffer, string | undefined][]) {
    respondWith(bytes, type)
    await expectError(callTool(), 'PROVIDER_ERROR', { error: /responded with .*, which is not text/, hint: /JSON and text/ })
  }
  assert.is(await getBody('plain', 'application/octet-stream'), 'plain')
  assert.is(await getBody('<svg/>', 'image/svg+xml'), '<svg/>')
})

test('a response beyond the size limit is truncated', async () => {
  const { length } = await getBody('é'.repeat(2_000_000), 'text/plain')
  assert.ok(length < 1024 * 1024, String(length))
  assert.match(await getBody(`"${'x'.repeat(2_000_000)}"`, 'application/json'), /Truncated after \d+ bytes\.\]$/)
})

test('timeouts and connection failures have different error codes', async () => {
  server.listener = () => {}
  await expectError(callTool({ timeout_ms: 100 }), 'PROVIDER_TIMEOUT', { error: /within 100 ms/ })
  server.listener = (_, reply) => reply.writeHead(200, { 'content-type': 'text/plain' }).write('half')
  await expectError(callTool({ timeout_ms: 200 }), 'PROVIDER_TIMEOUT')
  server.listener = (request) => request.socket.destroy()
  await expectError(callTool(), 'PROVIDER_ERROR', { error: /closed the connection/ })
  await expectError(callTool({ url: 'http://127.0.0.1:9/' }), 'PROVIDER_ERROR', { error: /refused the connection/ })
  await expectError(callTool({ url: 'http://nothing.invalid/' }), 'PROVIDER_ERROR', { error: /nothing\.invalid/ })
})

test('a tool without allow_private_network cannot reach private addresses', async () => {
  await expectError(callTool({ allow_private_network: false }), 'ADDRESS_BLOCKED', { hint: /allow_private_network/ })
  assert.is(server.requests.length, 0)
})

test('credentials that a server echoes are redacted in every encoding', async () => {
  server.listener = (request, reply) => {
    const said = { headers: request.headers, url: request.url, twice: JSON.stringify(request.headers) }
    reply
      .writeHead(200, { 'content-type': 'application/json', 'x-echo': request.headers.authorization ?? request.url ?? '' })
      .end(JSON.stringify(said))
  }
  for (const auth of [
    { type: 'bearer', token: 'canary "quoted" & more' },
    { type: 'bearer', token: 'canary-token-1' },
    { type: 'basic', username: 'user', password: 'canary-password' },
    { type: 'api_key', name: 'X-Api', value: 'canary-key-2' },
    { type: 'api_key', name: 'key', in: 'query', value: 'canary key/3' },
  ]) {
    const { text, data } = await callTool({ auth })
    assert.is(data.status, 200)
    assert.not.match(text, /canary/)
    assert.not.match(text, Buffer.from('user:canary-password').toString('base64'))
    assert.match(text, /\[redacted\]/)
  }
})

test('header values that a server echoes are redacted in every encoding, except for those that are never secret', async () => {
  const basic = Buffer.from('user:Canary-password').toString('base64')
  const headers = {
    'X-Anything': 'Canary+value=/1',
    Authorization: `Basic ${basic}`,
    Cookie: 'theme=dark; session=Canary-cookie',
    'X-Number': '987654321',
    'Api-Version': '2026-01-31',
  }
  server.listener = (request, reply) => {
    const value = request.headers['x-anything'] as string
    const escaped = [...value].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
    const bytes = Buffer.from(value)
    const spellings = [
      ...[value, value.toLowerCase(), value.toUpperCase(), encodeURIComponent(value), encodeURIComponent(value).toLowerCase()],
      ...[bytes.toString('hex'), bytes.toString('hex').toUpperCase(), bytes.toString('base64'), bytes.toString('base64url')],
      ...[request.headers.authorization, 'Canary-password', 'Canary-cookie', request.headers['api-version']],
    ]
    reply
      .writeHead(200, { 'content-type': 'application/json', 'x-echo': value })
      .end(`{"all":${JSON.stringify(spellings)},"escaped":"${escaped}","number":${request.headers['x-number']},"${value}":1}`)
  }
  const editor = { as: 'editor' }
  const { text, data } = await callTool({ headers }, editor)
  assert.equal(data.body, {
    all: [...Array(9).fill('[redacted]'), 'Basic [redacted]', '[redacted]', '[redacted]', '2026-01-31'],
    escaped: '[redacted]',
    number: '[redacted]',
    '[redacted]': 1,
  })
  assert.is(data.headers['x-echo'], '[redacted]')
  assert.not.match(text, /canary/i)
  assert.is((await callTool({ headers })).data.headers['x-echo'], headers['X-Anything'], 'an admin sees what the server received')
})

test('the beginning of a secret at the end of a truncated response is removed', async () => {
  const key = 'canary-key-0123456789'
  for (let cut = 1; cut < key.length; cut += 3) {
    respondWith(`${'x'.repeat(1024 * 1024 - cut)}${key}`, 'text/plain')
    const { body } = await expectData(callTool({ headers: { 'X-Key': key } }, { as: 'editor' }))
    assert.match(body.slice(-60), /x\n\[Truncated after \d+ bytes\.\]$/)
  }
})

test('a redirect to another server is followed without credentials', async () => {
  server.listener = (_, reply) => reply.writeHead(307, { location: `${other.origin}/next` }).end()
  const auth = { type: 'bearer', token: 'canary-token' }
  assert.is((await expectData(callTool({ auth, headers: { 'X-Key': 'canary-header', Cookie: 'canary-cookie' } }))).body, 'reached')
  assert.is(other.requests.length, 1)
  assert.not.match(JSON.stringify(other.requests), /canary/)
  assert.match(JSON.stringify(server.requests), /canary-token.*canary-header|canary-header.*canary-token/)
  server.listener = (_, reply) => reply.writeHead(302, { location: `http://0.0.0.0:${other.port}/` }).end()
  await expectError(callTool({ auth }), 'ADDRESS_BLOCKED')
  assert.is(other.requests.length, 1)
})

test('secrets are not logged', async () => {
  server.listener = (request) => request.socket.destroy()
  await callTool({
    auth: { type: 'api_key', name: 'key', in: 'query', value: 'canary-in-query' },
    headers: { 'X-Key': 'canary-in-header' },
  })
  assert.not.match(service.log, /canary-in/)
})

test('only callers who may change a tool may test it', async () => {
  const { id } = await createTool()
  respondWith('fine', 'text/plain')
  await expectData(service.post(`/api-tools/${id}/test`, {}, { as: 'editor' }))
  for (const as of ['viewer', 'member']) await expectError(service.post(`/api-tools/${id}/test`, {}, { as }), 'FORBIDDEN')
  await expectError(service.post('/api-tools/api_none/test', {}), 'NOT_FOUND')
})

test.run()
