import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { Receiver } from '../webhooks/receiver.ts'

const test = suite<{ service: TestServer }>('as code: secrets')

test.before.each(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
  }),
)
test.after.each(reportFailure(({ service }) => service.close()))

const apply = (service: TestServer, resources: Json[], more: Json = {}): Promise<Json> =>
  expectData(service.post('/apply', { resources, ...more }))
const model = (api_key?: Json) => ({
  family: 'models',
  file: 'models/cloud.yaml',
  fields: { name: 'Cloud', provider: 'openai', model_id: 'gpt-4o', ...(api_key === undefined ? {} : { api_key }) },
})
const tool = (fields: Json) => ({
  family: 'api-tools',
  file: 'api-tools/t.yaml',
  fields: { name: 't', url: 'https://api.example.com/', ...fields },
})
const action = ({ changes }: Json): [string, string[]] => [changes[0].action, changes[0].fields.map(({ field }: Json) => field)]

test('unset variables are reported with their files before any change', async ({ service }) => {
  const set = [
    model({ env: 'CLOUD_KEY' }),
    tool({ headers: { 'X-A': { env: 'A_KEY' } }, auth: { type: 'bearer', token: { env: 'B_KEY' } } }),
  ]
  const body = await expectError(service.post('/apply', { resources: set }), 'VALIDATION_ERROR', { hint: /export CLOUD_KEY=/ })
  assert.is(
    body.error,
    'Variables are not set: CLOUD_KEY (models/cloud.yaml: api_key), A_KEY (api-tools/t.yaml: headers), B_KEY (api-tools/t.yaml: auth).',
  )
  assert.is((await service.get('/api-tools')).body.pagination.total, 0)
  assert.is((await service.get('/models')).body.pagination.total, 1, 'only the embedded model')
})

test('a plan lists unset variables', async ({ service }) => {
  const hook = {
    family: 'webhooks',
    file: 'webhooks/h.yaml',
    fields: { url: 'https://hooks.example.com/', events: ['conversation.completed'], secret: { env: 'H' } },
  }
  const plan = await apply(service, [model({ env: 'CLOUD_KEY' }), hook], { dry_run: true })
  assert.equal(plan.missing, [
    { variable: 'CLOUD_KEY', file: 'models/cloud.yaml', field: 'api_key' },
    { variable: 'H', file: 'webhooks/h.yaml', field: 'secret' },
  ])
  assert.equal(
    plan.changes.map(({ action }: Json) => action),
    ['create', 'create'],
  )
  assert.not.match(JSON.stringify(plan), 'whsec_')
  await apply(service, [tool({ auth: { type: 'bearer', token: 'a-secret' } })])
  const other = await apply(service, [tool({ auth: { type: 'basic', username: 'ada', password: { env: 'P' } } })], { dry_run: true })
  assert.equal([action(other), other.missing.length], [['update', ['auth']], 1])
})

test('a secret is changed by another value, kept if omitted and removed by null', async ({ service }) => {
  await apply(service, [model('sk-one-0123456789')])
  assert.equal(action(await apply(service, [model('sk-one-0123456789')])), ['unchanged', []])
  assert.equal(action(await apply(service, [model({ env: 'CLOUD_KEY' })])), ['unchanged', []])
  assert.equal(action(await apply(service, [model()])), ['unchanged', []])
  const changed = await apply(service, [model('sk-two-0123456789')])
  assert.equal(action(changed), ['update', ['api_key']])
  assert.not.match(JSON.stringify(changed), /sk-/)
  assert.is((await expectData(service.get('/models?name=Cloud')))[0].has_api_key, true)
  assert.equal(action(await apply(service, [model(null)])), ['update', ['api_key']])
  assert.is((await expectData(service.get('/models?name=Cloud')))[0].has_api_key, false)
})

test('headers and authentication are compared by name, and by value if it is set', async ({ service }) => {
  const full = { headers: { 'X-A': 'one-secret' }, auth: { type: 'api_key', name: 'key', value: 'two-secret' } }
  await apply(service, [tool(full)])
  assert.equal(action(await apply(service, [tool(full)])), ['unchanged', []])
  assert.equal(action(await apply(service, [tool({ ...full, auth: { ...full.auth, in: 'header' } })])), ['unchanged', []])
  const unset = { headers: { 'X-A': { env: 'A' } }, auth: { type: 'api_key', name: 'key', value: { env: 'B' } } }
  assert.equal(action(await apply(service, [tool(unset)])), ['unchanged', []])
  assert.equal(action(await apply(service, [tool({ ...unset, timeout_ms: 5000 })])), ['update', ['timeout_ms']])
  assert.equal(action(await apply(service, [tool({ timeout_ms: 5000 })])), ['unchanged', []])
  // A stored secret cannot be used for another header or another type of authentication.
  await expectError(service.post('/apply', { resources: [tool({ headers: { 'X-B': { env: 'A' } } })] }), 'VALIDATION_ERROR', {
    error: /A \(api-tools\/t\.yaml: headers\)/,
  })
  await expectError(service.post('/apply', { resources: [tool({ auth: { type: 'bearer', token: { env: 'B' } } })] }), 'VALIDATION_ERROR', {
    error: /B \(/,
  })
  assert.equal(action(await apply(service, [tool({ ...full, headers: { 'X-A': 'another-secret' }, timeout_ms: 5000 })])), [
    'update',
    ['headers'],
  ])
  assert.equal(action(await apply(service, [tool({ headers: {}, auth: { type: 'none' } })])), ['update', ['timeout_ms', 'headers', 'auth']])
  const [stored] = await expectData(service.get('/api-tools'))
  assert.equal([stored.header_names, stored.auth], [[], { type: 'none' }])
})

test('the secret of a webhook is generated if omitted, returned once, and rotated by another value', async ({ service }) => {
  const receiver = await Receiver.start()
  const hook = (secret?: Json) => ({
    family: 'webhooks',
    file: 'webhooks/h.yaml',
    fields: { url: receiver.url, events: ['conversation.completed'], allow_private_network: true, ...(secret ? { secret } : {}) },
  })
  assert.equal((await apply(service, [hook()], { dry_run: true })).secrets, [])
  const made = await apply(service, [hook()])
  assert.match(made.secrets[0].secret, /^whsec_/)
  assert.equal(
    [(await apply(service, [hook()])).changes[0].action, (await apply(service, [hook({ env: 'H' })])).changes[0].action],
    ['unchanged', 'unchanged'],
  )
  assert.is((await apply(service, [hook(made.secrets[0].secret)])).changes[0].action, 'unchanged')
  const other = `whsec_${Buffer.alloc(24, 3).toString('base64')}`
  assert.equal(action(await apply(service, [hook(other)])), ['update', ['secret']])
  const [{ id }] = await expectData(service.get('/webhooks'))
  await expectData(service.post(`/webhooks/${id}/test`))
  const [received] = await receiver.count(1)
  assert.is(received?.headers['webhook-signature']?.split(' ').length, 2, 'the previous secret also signs for a day')
  const [row] = await service.database.all<{ secret: string }>('SELECT secret FROM webhooks')
  assert.match(row?.secret ?? '', /^v1\./)
  await receiver.close()
})

test.run()
