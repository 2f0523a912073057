import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { copyHome } from '../harness/pausable-disk.ts'
import { Resources } from '../harness/resources.ts'
import { isOnServer } from '../harness/sqld/test-database.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('indexing of uploaded documents')
let server: TestServer
let source: Json

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
  }),
)
test.after(reportFailure(() => server.close()))
test.before.each(async () => {
  source = await new Resources(server).source()
})

const path = (id = '') => `/knowledge-sources/${source.id}/documents${id && `/${id}`}`
const add = (fields: Record<string, unknown>) => server.post(path(), { index: false, ...fields })

/** Returns the document and its source when the sync has ended. */
const waitForSync = (id: string) =>
  waitFor(async () => {
    const { data } = await server.get(`/knowledge-sources/${source.id}`)
    const document = await expectData(server.get(path(id)))
    assert.ok(data.status !== 'active' || document.status === 'indexed', 'an active source has indexed its documents')
    return ['active', 'error'].includes(data.status) && data.progress === null && { document, source: data }
  })

test('an uploaded document is indexed, and the source is syncing until then', async () => {
  const added = await server.post(path(), { name: 'leave.md', content: '# Leave\n\nTwenty-five days.' })
  assert.equal([added.status, added.data.status], [201, 'waiting'])
  assert.is((await server.get(`/knowledge-sources/${source.id}`)).data.status === 'pending', false)
  const indexed = await waitForSync(added.data.id)
  assert.equal([indexed.document.status, indexed.document.chunks, indexed.source.status], ['indexed', 1, 'active'])
  assert.ok(indexed.source.last_sync !== null)
  const replaced = await expectData(server.post(path(), { name: 'leave.md', content: '# Leave\n\nThirty days.' }), 201)
  assert.is(replaced.status, 'waiting')
  assert.is((await waitForSync(replaced.id)).document.status, 'indexed')
  // Unchanged content is not indexed again, and indexing does not invalidate the tag of the upload.
  const { last_sync } = (await server.get(`/knowledge-sources/${source.id}`)).data
  const same = await server.post(path(), { name: 'leave.md', content: '# Leave\n\nThirty days.' })
  assert.equal([same.data.status, (await server.get(`/knowledge-sources/${source.id}`)).data.last_sync], ['indexed', last_sync])
  await expectError(server.delete(path(added.data.id), { headers: { 'if-match': added.headers.etag as string } }), 'PRECONDITION_FAILED')
  const fresh = await server.post(path(), { name: 'travel.md', content: 'Book early.' })
  await waitForSync(fresh.data.id)
  assert.is((await server.delete(path(fresh.data.id), { headers: { 'if-match': fresh.headers.etag as string } })).status, 200)
})

test('a document that cannot be read is failed, and the sync of the others succeeds', async () => {
  const broken = await expectData(server.post(path(), { name: 'scan.pdf', content_base64: 'AAECAwA=' }), 201)
  const document = await waitFor(async () => {
    const { data } = await server.get(path(broken.id))
    return data.status === 'failed' && data
  })
  assert.match(document.error, /no PDF header/)
  const readable = await expectData(server.post(path(), { name: 'leave.md', content: 'Twenty-five days.' }), 201)
  assert.is((await waitForSync(readable.id)).document.status, 'indexed')
})

test('with index: false a document waits for the next sync', async () => {
  const { id } = await expectData(add({ name: 'leave.md', content: 'Twenty-five days.' }), 201)
  assert.is((await server.get(`/knowledge-sources/${source.id}`)).data.status, 'pending')
  await expectData(server.post(`/knowledge-sources/${source.id}/sync`))
  await waitForSync(id)
  const { id: later } = await expectData(add({ name: 'travel.md', content: 'Book early.' }), 201)
  const { status, progress } = (await server.get(`/knowledge-sources/${source.id}`)).data
  assert.equal([status, progress, (await server.get(path(later))).data.status], ['active', null, 'waiting'])
})

// A server keeps its records if the daemon is killed.
const fileTest = isOnServer ? test.skip : test
fileTest('a restart resumes the sync of an upload that was acknowledged before a kill', async () => {
  const own = await TestServer.start()
  const { id } = await new Resources(own).source()
  await own.post(
    `/knowledge-sources/${id}/documents`,
    { name: 'leave.md', content: 'Twenty-five days.' },
    { headers: { 'idempotency-key': 'a' } },
  )
  const copy = copyHome(own.paths.home)
  await own.close()
  const restarted = await TestServer.start({ home: copy })
  await waitFor(async () => (await restarted.get(`/knowledge-sources/${id}`)).data.status === 'active')
  assert.is((await restarted.get(`/knowledge-sources/${id}/documents`)).data[0].status, 'indexed')
  await restarted.close()
})

test.run()
