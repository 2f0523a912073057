import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FAMILIES } from '../../src/contract/routes.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { createSamples, type Sample } from '../harness/samples.ts'
import { type Json, type TestResponse, TestServer } from '../harness/test-server.ts'

const VARIANTS = 3

const test = suite('conditional requests')
let server: TestServer
let samples: Record<string, Sample>
let created: TestResponse

test.before(
  reportFailure(async () => {
    server = await TestServer.start({ surroundings: { keys: { OPENAI_API_KEY: 'sk-one' } } })
    const post: TestServer['post'] = async (...call) => {
      created = await server.post(...call)
      return created
    }
    samples = createSamples(new Resources({ post } as TestServer))
  }),
)
test.after(reportFailure(() => server.close()))

/** Creates a resource and returns it with the ETag of the response. */
async function create(name: string, index: number): Promise<{ record: Json; etag: string }> {
  const record = await (samples[name] as Sample).create(index)
  return { record, etag: String(created.headers.etag) }
}

const ifMatch = (etag: string) => ({ headers: { 'if-match': etag } })
const ifNoneMatch = (etag: string) => ({ headers: { 'if-none-match': etag } })

for (const { name, path } of FAMILIES) {
  test(`${name}: the ETag of POST is the ETag of GET and works in the next If-Match`, async () => {
    for (let index = 0; index < VARIANTS; index++) {
      const { change } = samples[name] as Sample
      for (const method of ['PUT', 'PATCH'] as const) {
        const { record, etag } = await create(name, index)
        assert.is((await server.get(`${path}/${record.id}`)).headers.etag, etag)
        const updated = await server.call(method, `${path}/${record.id}`, change, ifMatch(etag))
        assert.is(updated.status, 200, updated.text)
        assert.is((await server.get(`${path}/${record.id}`)).headers.etag, updated.headers.etag)
        await expectError(server.call(method, `${path}/${record.id}`, change, ifMatch(etag)), 'PRECONDITION_FAILED')
        await expectError(server.delete(`${path}/${record.id}`, ifMatch(etag)), 'PRECONDITION_FAILED')
        assert.is((await server.delete(`${path}/${record.id}`, ifMatch(String(updated.headers.etag)))).status, 200)
      }
      const { record, etag } = await create(name, index)
      assert.is((await server.delete(`${path}/${record.id}`, ifMatch(etag))).status, 200)
    }
  })

  test(`${name}: If-None-Match returns 304 without a body until the resource is changed`, async () => {
    const { record, etag } = await create(name, 0)
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const same = await server.get(`${path}/${record.id}`, ifNoneMatch(tags))
      assert.equal([same.status, same.text, same.headers.etag], [304, '', etag], tags)
    }
    assert.is((await server.call('HEAD', `${path}/${record.id}`, undefined, ifNoneMatch(etag))).status, 304)
    assert.is((await server.get(`${path}/${record.id}`, ifNoneMatch('"other"'))).status, 200)
    await expectData(server.patch(`${path}/${record.id}`, (samples[name] as Sample).change))
    assert.is((await server.get(`${path}/${record.id}`, ifNoneMatch(etag))).status, 200)
    await expectError(server.get(`${path}/nobody`, ifNoneMatch('*')), 'NOT_FOUND')
  })
}

test('a response 201 has the path of the created resource as Location', async () => {
  for (const { name } of FAMILIES) {
    const { record } = await create(name, 0)
    const location = String(created.headers.location)
    assert.equal((await expectData(server.get(location))).id, record.id, location)
  }
  for (const prefix of ['/api', '/api/v1']) {
    const { headers, data } = await server.post(`${prefix}/agents/`, { name: 'located' })
    assert.is(headers.location, `${prefix}/agents/${data.id}`)
    const { record: source } = await create('knowledge-sources', 0)
    const document = await server.post(`${prefix}/knowledge-sources/${source.id}/documents`, { name: 'leave.md', content: '# Leave' })
    assert.is(document.headers.location, `${prefix}/knowledge-sources/${source.id}/documents/${document.data.id}`)
  }
  const adopted = await server.post('/models/discover', { origin: 'OPENAI_API_KEY', model_id: 'gpt' })
  assert.is(adopted.headers.location, `/api/models/${adopted.data.id}`)
  const key = { headers: { 'idempotency-key': 'located' } }
  const [first, again] = [await server.post('/agents', { name: 'x' }, key), await server.post('/agents', { name: 'x' }, key)]
  assert.is(again.headers.location, first.headers.location)
  assert.is((await server.get('/agents')).headers.location, undefined)
})

test('the ETag of a replayed POST, of an added document and of a rotated secret is the ETag of GET', async () => {
  const key = { headers: { 'idempotency-key': 'once' } }
  const body = { name: 'once', role: 'viewer' }
  const [first, again] = [await server.post('/tokens', body, key), await server.post('/tokens', body, key)]
  assert.is(again.headers.etag, first.headers.etag)
  assert.is((await server.get(`/tokens/${first.data.id}`)).headers.etag, first.headers.etag)
  const { record: source } = await create('knowledge-sources', 0)
  const documents = `/knowledge-sources/${source.id}/documents`
  const added = await server.post(documents, { name: 'leave.md', content: '# Leave', index: false })
  assert.is((await server.get(`${documents}/${added.data.id}`)).headers.etag, added.headers.etag)
  assert.is((await server.delete(`${documents}/${added.data.id}`, ifMatch(String(added.headers.etag)))).status, 200)
  const { record: webhook } = await create('webhooks', 0)
  const rotated = await server.post(`/webhooks/${webhook.id}/rotate-secret`, {})
  assert.is((await server.get(`/webhooks/${webhook.id}`)).headers.etag, rotated.headers.etag)
})

test('settings and status support If-None-Match, and other methods ignore it', async () => {
  const { headers } = await server.get('/settings')
  const seen = ifNoneMatch(String(headers.etag))
  assert.is((await server.get('/settings', seen)).status, 304)
  assert.is((await server.put('/settings', { conversation_idle_minutes: 7 }, seen)).status, 200)
  assert.is((await server.get('/settings', seen)).status, 200)
})

test('POST routes that change a resource check If-Match', async () => {
  for (const [name, action, body] of [
    ['webhooks', 'rotate-secret', {}],
    ['conversations', 'complete', undefined],
    ['evaluations', 'test-cases', { test_cases: [{ input: 'x' }] }],
  ] as const) {
    const { record, etag } = await create(name, 0)
    await expectError(server.post(`/${name}/${record.id}/${action}`, body, ifMatch('"other"')), 'PRECONDITION_FAILED')
    assert.is((await server.post(`/${name}/${record.id}/${action}`, body, ifMatch(etag))).status, 200, action)
  }
})

test('other POST routes ignore If-Match', async () => {
  const { record } = await create('webhooks', 0)
  assert.is.not((await server.post(`/webhooks/${record.id}/test`, undefined, ifMatch('"other"'))).status, 412)
})

test.run()
