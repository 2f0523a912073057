import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const MEGABYTE = 1024 * 1024
const test = suite('bodies')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const raw = (text: string | Buffer, type = 'application/json') =>
  server.post('/agents', undefined, { raw: text, headers: { 'content-type': type } })

test('a body over 1 MB is rejected and the connection closed', async () => {
  const sized = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`
  assert.is(sized(MEGABYTE).length, MEGABYTE)
  await expectError(raw(sized(MEGABYTE)), 'VALIDATION_ERROR', { field: 'name' })
  const answer = await raw(sized(MEGABYTE + 1))
  assert.equal([answer.status, answer.body.code, answer.headers.connection], [413, 'PAYLOAD_TOO_LARGE', 'close'])
  assert.match(answer.body.error, 'limit is 1 MB')
})

test('the body of a document can have up to 64 MB', async () => {
  const source = await resources.source({ configuration: { max_file_size: 1024 ** 3 } })
  const send = (bytes: number) => {
    const frame = '{"name":"big.txt","content":""}'
    return server.post(`/knowledge-sources/${source.id}/documents`, undefined, {
      raw: frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`),
    })
  }
  const document = await expectData(send(64 * MEGABYTE), 201)
  assert.is(document.size, 64 * MEGABYTE - 31)
  await expectError(send(64 * MEGABYTE + 1), 'PAYLOAD_TOO_LARGE')
  await expectData(server.delete(`/knowledge-sources/${source.id}/documents/${document.id}`))
})

test('a body that is not UTF-8, or declares another charset, is rejected', async () => {
  const createBody = (...bytes: number[]) => Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')])
  for (const bytes of [[0xff], [0xc3], [0xe9], [0xed, 0xa0, 0x80], [0xc0, 0xaf]])
    await expectError(raw(createBody(...bytes)), 'INVALID_JSON', { error: /UTF-8/ })
  assert.is((await expectData(raw(createBody(0xc3, 0xa9)), 201)).name, 'é')
  for (const charset of ['utf-8', 'UTF8', '"utf-8"', 'us-ascii'])
    await expectData(raw('{"name":"x"}', `application/json; charset=${charset}`), 201)
  for (const charset of ['iso-8859-1', 'utf-16', '"windows-1252"'])
    await expectError(raw('{"name":"x"}', `application/json; charset=${charset}`), 'UNSUPPORTED_MEDIA_TYPE', { error: /UTF-8/ })
})

test('a compressed body is rejected with UNSUPPORTED_MEDIA_TYPE', async () => {
  const send = (encoding: string) =>
    server.post('/agents', undefined, {
      raw: '{"name":"x"}',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    })
  for (const encoding of ['gzip', 'br', 'deflate, gzip'])
    await expectError(send(encoding), 'UNSUPPORTED_MEDIA_TYPE', { error: /Compressed/ })
  await expectData(send('identity'), 201)
})

test('a body that is not JSON is rejected with INVALID_JSON', async () => {
  for (const text of [
    '{',
    '{"name":}',
    "{'name':'x'}",
    '{"name":"x"} x',
    'name=x',
    '\u0000',
    'undefined',
    'NaN',
    '[1,]',
    '{"a":1,}',
    '"\n"',
    '\ufeff\ufeff{}',
    Buffer.from([0xff, 0xfe, 0x7b]),
  ]) {
    const body = await expectError(raw(text), 'INVALID_JSON')
    assert.not.match(body.error, /node:|\/daemon\//)
  }
})

test('keys that could pollute the prototype are rejected', async () => {
  for (const text of [
    '{"__proto__":{"polluted":1},"name":"x"}',
    '{"name":"x","variables":{"__proto__":{"polluted":1}}}',
    '{"constructor":{"prototype":{"polluted":1}},"name":"x"}',
  ])
    await expectError(raw(text), 'INVALID_JSON')
  assert.is(({} as { polluted?: number }).polluted, undefined)
})

test('names of Object.prototype are treated like other names', async () => {
  for (const name of ['toString', 'hasOwnProperty', 'valueOf'])
    await expectError(server.post('/agents', { name: 'x', [name]: 1 }), 'VALIDATION_ERROR', { field: name })
  for (const name of ['toString', 'constructor', '__proto__'])
    await expectError(server.get(`/agents?${name}=1`), 'VALIDATION_ERROR', { field: name })
  const agent = await resources.agent({ variables: { toString: 'x', hasOwnProperty: 1 } })
  assert.equal((await expectData(server.get(`/agents/${agent.id}`))).variables, { toString: 'x', hasOwnProperty: 1 })
})

test('any content type except JSON is rejected', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'json',
    '',
  ])
    await expectError(raw('{"name":"x"}', type), 'UNSUPPORTED_MEDIA_TYPE')
  for (const type of ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset=UTF-8'])
    assert.is((await raw('{"name":"x"}', type)).status, 201, type)
})

test('an empty body is treated as no body', async () => {
  await expectError(raw(''), 'VALIDATION_ERROR')
  const conversation = await resources.conversation()
  assert.is(
    (await server.post(`/conversations/${conversation.id}/complete`, undefined, { headers: { 'content-type': 'application/json' } }))
      .status,
    200,
  )
  assert.is((await server.post(`/conversations/${conversation.id}/complete`, {})).status, 200)
  for (const type of ['application/x-www-form-urlencoded', 'text/plain'])
    for (const length of [{}, { 'content-length': '0' }] as Record<string, string>[])
      assert.is(
        (await server.post(`/conversations/${conversation.id}/complete`, undefined, { headers: { 'content-type': type, ...length } }))
          .status,
        200,
      )
  await expectError(server.post('/nothing', undefined, { raw: 'x', headers: { 'content-type': 'text/plain' } }), 'NOT_FOUND')
  const template = await resources.template({ template: 'no variables' })
  assert.equal(await expectData(server.post(`/prompt-templates/${template.id}/render`)), { text: 'no variables' })
})

test('a body or query that a route does not take is rejected', async () => {
  const conversation = await resources.conversation()
  await expectError(server.post(`/conversations/${conversation.id}/complete`, { reason: 'x' }), 'VALIDATION_ERROR')
  await expectError(server.call('DELETE', `/conversations/${conversation.id}`, { force: true }), 'VALIDATION_ERROR')
  await expectError(server.get(`/conversations/${conversation.id}?verbose=1`), 'VALIDATION_ERROR', { field: 'verbose' })
})

test('deeply nested bodies and bodies with many or duplicate fields are rejected', async () => {
  const deep = `{"name":"x","variables":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`
  await expectError(raw(deep), 'VALIDATION_ERROR', { error: /nested deeper/ })
  await expectError(raw('['.repeat(100_000) + ']'.repeat(100_000)), 'VALIDATION_ERROR')
  await expectData(raw(`{"name":"x","variables":${'{"a":'.repeat(90)}1${'}'.repeat(90)}}`), 201)
  const wide = JSON.stringify({ name: 'x', ...Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`f${index}`, index])) })
  const { text } = await raw(wide)
  assert.ok(text.length < 2_000, `${text.length} bytes of error`)
  await expectError(raw('{"name":"a","name":""}'), 'VALIDATION_ERROR', { field: 'name' })
})

test('strings are not converted to numbers, nor numbers to strings', async () => {
  for (const body of [
    { temperature: '1' },
    { max_tokens: '5' },
    { max_tokens: 1.5 },
    { max_tokens: true },
    { name: 5 },
    { tools: 'x' },
    { tools: {} },
  ])
    await expectError(server.post('/agents', { name: 'x', ...body }), 'VALIDATION_ERROR', {
      field: Object.keys(body)[0] as string,
      error: /must be/,
    })
  await expectError(raw('{"name":"x","temperature":1e999}'), 'VALIDATION_ERROR', { field: 'temperature' })
})

test.run()
