import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { uniqueName } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { type RecordingServer, startRecordingServer } from '../outbound/recording-server.ts'

const test = suite('import of OpenAPI documents')
let service: TestServer
let server: RecordingServer

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
    server = await startRecordingServer()
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
  server.listener = (_, reply) => reply.setHeader('content-type', 'application/json').end('{}')
})

const post = (body: Json, options?: Json) => service.post('/api-tools/import', body, options)
const total = async () => (await service.get('/api-tools')).body.pagination.total
/** A name that other tests do not use. */
const id = (word: string) => uniqueName(word).replaceAll(' ', '_')
const document = (paths: Json, more: Json = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  servers: [{ url: server.origin }],
  paths,
  ...more,
})
const securitySchemes = {
  jwt: { type: 'http', scheme: 'bearer' },
  user: { type: 'http', scheme: 'basic' },
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  app: { type: 'apiKey', in: 'query', name: 'app' },
  session: { type: 'apiKey', in: 'cookie', name: 'sid' },
}

test('an import creates working tools, and tools that change data require confirmation', async () => {
  const [list, add] = [id('list'), id('add')]
  const paths = {
    '/pets/{kind}': {
      parameters: [{ in: 'path', name: 'kind', required: true, schema: { type: 'string' } }],
      get: {
        operationId: list,
        parameters: [{ in: 'query', name: 'tags', explode: false, schema: { type: 'array', items: { type: 'string' } } }],
      },
      post: {
        operationId: add,
        parameters: [{ in: 'header', name: 'X-Trace', schema: { type: 'string' } }],
        requestBody: {
          content: {
            'application/json': { schema: { type: 'object', properties: { kind: { type: 'integer' }, name: { type: 'string' } } } },
          },
        },
      },
      put: { requestBody: { content: { 'multipart/form-data': {} } } },
    },
  }
  const { title, tools, skipped, security } = await expectData(post({ document: document(paths), allow_private_network: true }), 200)
  assert.equal([title, security], ['Pets', []])
  assert.equal(
    tools.map(({ name, action, requires_confirmation }: Json) => [name, action, requires_confirmation]),
    [
      [list, 'create', false],
      [add, 'create', true],
    ],
  )
  assert.equal([skipped.length, skipped[0].operation], [1, 'PUT /pets/{kind}'])
  assert.match(skipped[0].reason, 'multipart/form-data')
  const [listing, adding] = tools
  assert.is((await expectData(service.get(`/api-tools/${listing.id}`))).name, list)
  await expectData(service.post(`/api-tools/${listing.id}/test`, { arguments: { kind: 'a/b', tags: ['x', 'y'] } }))
  await expectData(service.post(`/api-tools/${adding.id}/test`, { arguments: { kind: 'cat', body_kind: 7, name: 'Tom', 'X-Trace': 't' } }))
  const [first, second] = server.requests
  assert.is(first?.url, '/pets/a%2Fb?tags=x,y')
  assert.equal([second?.url, JSON.parse(second?.body ?? ''), second?.headers['x-trace']], ['/pets/cat', { kind: 7, name: 'Tom' }, 't'])
})

test('a document can be JSON or YAML text, an object or a URL', async () => {
  const paths = { '/a': { get: { operationId: id('op') } } }
  const made = async (body: Json) => (await expectData(post({ dry_run: true, ...body }))).tools.map(({ url }: Json) => url)
  const expected = [`${server.origin}/a`]
  assert.equal(await made({ document: document(paths) }), expected)
  assert.equal(await made({ document: JSON.stringify(document(paths)) }), expected)
  assert.equal(
    await made({
      document: `openapi: 3.0.0\nservers: [{url: '${server.origin}'}]\npaths:\n  /a: {get: {responses: {200: {description: fine}}}}\n`,
    }),
    expected,
  )
  server.listener = (_, reply) => reply.end(JSON.stringify(document(paths, { servers: [{ url: '/v3' }] })))
  assert.equal(await made({ url: `${server.origin}/docs/openapi.json`, allow_private_network: true }), [`${server.origin}/v3/a`])
  await expectError(post({ url: `${server.origin}/openapi.json` }), 'ADDRESS_BLOCKED')
  await expectError(post({ url: `${server.origin}/openapi.json`, allow_private_network: true }, { as: 'editor' }), 'FORBIDDEN')
  server.listener = (_, reply) => reply.writeHead(404).end()
  await expectError(post({ url: `${server.origin}/openapi.json`, allow_private_network: true }), 'PROVIDER_ERROR', {
    error: /responded with status 404/,
  })
  for (const body of [{}, { document: 'x', url: 'https://x.example/' }])
    await expectError(post(body), 'VALIDATION_ERROR', { field: 'document' })
})

test('a name conflict rolls the whole import back', async () => {
  const taken = id('taken')
  await expectData(post({ document: document({ '/a': { get: { operationId: taken } } }) }))
  const before = await total()
  const paths = { '/new': { get: { operationId: id('new') } }, '/a': { get: { operationId: taken } } }
  await expectError(post({ document: document(paths) }), 'CONFLICT', { error: new RegExp(taken), hint: /--update/ })
  assert.is(await total(), before)
  await expectData(post({ document: document(paths), prefix: 'v2_' }))
  assert.is(await total(), before + 2)
})

test('a dry run reports the import without storing anything', async () => {
  const before = await total()
  const { tools } = await expectData(post({ document: document({ '/a': { get: { operationId: id('dry') } } }), dry_run: true }))
  assert.equal([tools.length, tools[0].action, tools[0].id, await total()], [1, 'create', null, before])
})

test('an update keeps secrets and settings and applies changes of the document', async () => {
  const name = id('pet')
  const paths = (description: string) => ({ '/a': { post: { operationId: name, description } } })
  const first = await expectData(
    post({
      document: document(paths('old')),
      credentials: { bearer: 'first-token-value' },
      allow_private_network: true,
      timeout_ms: 5_000,
    }),
  )
  const tool = first.tools[0].id
  await expectData(service.patch(`/api-tools/${tool}`, { requires_confirmation: false }))
  const again = await expectData(post({ document: document(paths('old')), update: true }))
  assert.equal([again.tools[0].action, again.tools[0].id, again.tools[0].auth], ['keep', tool, 'kept'])
  const changed = await expectData(post({ document: document(paths('new')), update: true }))
  assert.equal([changed.tools[0].action, changed.tools[0].id], ['update', tool])
  const { description, timeout_ms, requires_confirmation, auth, allow_private_network } = await expectData(
    service.get(`/api-tools/${tool}`),
  )
  assert.equal(
    [description, timeout_ms, requires_confirmation, auth, allow_private_network],
    ['new', 5_000, false, { type: 'bearer' }, true],
  )
  await expectData(service.post(`/api-tools/${tool}/test`, {}))
  assert.is(server.requests[0]?.headers.authorization, 'Bearer first-token-value')
  const elsewhere = document(paths('new'), { servers: [{ url: 'https://evil.example' }] })
  await expectError(post({ document: elsewhere, update: true }), 'CONFLICT', { error: /another server/ })
})

test('credentials are assigned by security scheme and never returned', async () => {
  const security: Record<string, Json> = {
    bearer: [{ jwt: [] }],
    basic: [{ user: [] }],
    header: [{ key: [] }],
    query: [{ app: [] }],
    several: [{ key: [], app: [], session: [] }],
    either: [{ session: [] }, { jwt: [] }],
    open: [],
  }
  const prefix = id('sec')
  const paths = Object.fromEntries(
    Object.entries(security).map(([name, wanted]) => [`/${name}`, { get: { operationId: name, security: wanted } }]),
  )
  const credentials = { bearer: 'canary-1', user: 'me:canary-2', key: 'canary-3', app: 'canary-4', session: 'canary 5' }
  const answer = await post({
    document: document(paths, { components: { securitySchemes } }),
    credentials,
    prefix: `${prefix}_`,
    allow_private_network: true,
  })
  assert.not.match(answer.text, /canary/)
  assert.equal(
    answer.data.security.map(({ scheme, kind, given }: Json) => [scheme, kind, given]),
    [
      ['jwt', 'bearer', true],
      ['user', 'basic', true],
      ['key', 'api_key', true],
      ['app', 'api_key', true],
      ['session', 'api_key', true],
    ],
  )
  const sent: Json = {}
  for (const { id: tool, operation } of answer.data.tools) {
    await expectData(service.post(`/api-tools/${tool}/test`, {}))
    const [request] = server.requests.splice(0)
    sent[operation.slice(5)] = [
      request?.url.split('?')[1],
      request?.headers.authorization,
      request?.headers['x-key'],
      request?.headers.cookie,
    ]
  }
  assert.equal(sent, {
    bearer: [undefined, 'Bearer canary-1', undefined, undefined],
    basic: [undefined, `Basic ${Buffer.from('me:canary-2').toString('base64')}`, undefined, undefined],
    header: [undefined, undefined, 'canary-3', undefined],
    query: ['app=canary-4', undefined, undefined, undefined],
    several: ['app=canary-4', undefined, 'canary-3', 'sid=canary%205'],
    either: [undefined, undefined, undefined, 'sid=canary%205'],
    open: [undefined, undefined, undefined, undefined],
  })
})

test('missing credentials are reported, and unknown credentials are rejected', async () => {
  const paths = () => ({ '/a': { get: { operationId: id('a'), security: [{ jwt: [] }, { key: [], app: [] }] } } })
  const of = (more: Json) => post({ document: document(paths(), { components: { securitySchemes } }), dry_run: true, ...more })
  const { tools } = await expectData(of({}))
  assert.equal(
    [tools[0].auth, tools[0].notes],
    ['none', ['It is called without the required credentials: jwt (bearer) or key (api_key) and app (api_key).']],
  )
  await expectError(of({ credentials: { api_key: 'x' } }), 'VALIDATION_ERROR', { field: 'credentials.api_key', hint: /key, app/ })
  await expectError(of({ credentials: { jwtt: 'x' } }), 'VALIDATION_ERROR', { hint: /Did you mean "jwt"/ })
  await expectError(of({ credentials: { basic: 'no colon' } }), 'VALIDATION_ERROR', { error: /user:password/ })
  const silent = await expectData(
    post({ document: document({ '/a': { get: { operationId: id('a') } } }), dry_run: true, credentials: { bearer: 'x' } }),
  )
  assert.is(silent.tools[0].auth, 'bearer')
  await expectError(post({ document: document({ '/a': { get: {} } }), credentials: { api_key: 'x' } }), 'VALIDATION_ERROR', {
    hint: /headers/,
  })
})

test('invalid and unsupported documents are rejected with a reason', async () => {
  for (const [text, error] of [
    ['{', /is not JSON/],
    ['a: [b', /is not YAML/],
    ['just text', /is not an object/],
    ['[]', /is not an object/],
    ['{"openapi":"4.0.0"}', /it is OpenAPI 4\.0\.0/],
    ['swagger: "2.0"', /it is Swagger 2\.0/],
    ['a: 1', /the field openapi is missing/],
  ] as [string, RegExp][])
    await expectError(post({ document: text }), 'VALIDATION_ERROR', { field: 'document', error })
  await expectError(post({ document: document({ '/a': { get: {} } }), only: ['nothing'] }), 'VALIDATION_ERROR', {
    field: 'only',
    error: /no operation matches "nothing"/,
  })
  await expectError(post({ document: document({}), server: 'https://{x}.example' }), 'VALIDATION_ERROR', { field: 'server' })
  await expectError(post({ document: document({}), headers: { Host: 'x' } }), 'VALIDATION_ERROR', { field: 'headers.Host' })
})

test('only callers who may create tools may import them', async () => {
  for (const as of ['viewer', 'member']) await expectError(post({ document: document({}) }, { as }), 'FORBIDDEN')
  await expectData(post({ document: document({ '/a': { get: { operationId: id('edited') } } }) }, { as: 'editor' }))
})

test('a repeated idempotent request imports once', async () => {
  const body = { document: document({ '/a': { get: { operationId: id('once') } } }) }
  const headers = { 'idempotency-key': id('import') }
  const first = await expectData(post(body, { headers }))
  assert.equal(await expectData(post(body, { headers })), first)
})

test.run()
