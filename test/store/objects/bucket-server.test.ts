import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Storage } from '../../../daemon/store/objects/open-bucket.ts'
import { S3Client } from '../../../daemon/store/objects/s3-client.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { BUCKET, isCephInstalled, ObjectStore } from '../../harness/object-store/start-object-store.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture } from '../../knowledge/knowledge-fixture.ts'
import { StorageProxy } from './storage-proxy.ts'

const bucket = suite('a daemon with documents and vectors in a bucket')
const test = isCephInstalled() ? bucket : bucket.skip

const folder = mkdtempSync(join(tmpdir(), 'cadre-bucket-server-'))
let store: ObjectStore
let proxy: StorageProxy
let storage: Storage
let knowledge: KnowledgeFixture

if (isCephInstalled()) {
  bucket.before(async () => {
    store = await ObjectStore.start()
    proxy = await StorageProxy.start(store.address.endpoint)
    storage = { ...store.address, endpoint: proxy.url, url: `s3://${BUCKET}/server`, cacheBytes: 1024 ** 3 }
    knowledge = await KnowledgeFixture.start({ home: join(folder, 'home'), storage })
  })
  bucket.after(async () => {
    await knowledge.close()
    await proxy.close()
    store.remove()
    rmSync(folder, { recursive: true, force: true })
  })
}

const listKeys = async (prefix: string): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key } of new S3Client(storage).list(prefix)) keys.push(key)
  return keys
}

test('documents are stored, found, read again after a restart, and removed from the bucket', async () => {
  const source = await knowledge.createSyncedSource({ 'leave.md': 'Employees get thirty days of leave.', 'ducks.md': 'Ducks swim.' })
  const tool = await knowledge.createTool(source.id)
  assert.is((await knowledge.searchNames(tool, 'thirty days'))[0], 'leave.md')
  assert.is((await listKeys('documents/')).length, 2)
  assert.ok((await listKeys('vectors/')).length > 2)
  assert.equal(await knowledge.countOriginals(), 0)
  assert.not(existsSync(join(knowledge.service.paths.vectors, `${(await knowledge.listIndexes(source.id))[0].id}-text.lance`)))
  knowledge = await KnowledgeFixture.start({ home: await knowledge.service.stop(), storage })
  assert.is((await knowledge.searchNames(tool, 'thirty days'))[0], 'leave.md')
  await knowledge.service.delete(`/retrieval-tools/${tool.id}`)
  await knowledge.service.delete(`/knowledge-sources/${source.id}`)
  await waitFor(async () => (await listKeys('documents/')).length === 0)
})

test('the status names the bucket and its latency', async () => {
  const status = await expectData(knowledge.service.get('/status'))
  assert.is(status.storage.location, storage.url)
  assert.type(status.storage.latency_ms, 'number')
})

test('backups are refused, because the bucket is not part of them', async () => {
  await expectError(knowledge.service.post('/backups', { path: join(folder, 'backup.tar.gz') }), 'CONFLICT')
})

test('while the bucket is away, requests answer 503 and say when to try again, and a sync waits for it', async () => {
  const source = await knowledge.createSyncedSource({ 'a.md': 'Cats sleep.' })
  const tool = await knowledge.createTool(source.id)
  await knowledge.search(tool, 'sleep')
  proxy.isAway = true
  const add = () =>
    knowledge.service.post(`/knowledge-sources/${source.id}/documents`, { name: 'b.md', content: 'Dogs bark.', index: false })
  const refused = await add()
  assert.is(refused.status, 503)
  assert.is(refused.headers['retry-after'], '1')
  assert.is((await knowledge.service.get('/health')).status, 503)
  assert.is((await expectData(knowledge.service.get('/status'))).storage.latency_ms, null)
  proxy.isAway = false
  await expectData(add(), 201)
  proxy.isAway = true
  await knowledge.startSync(source.id)
  await waitFor(async () => knowledge.service.log.includes('sync interrupted'))
  assert.is((await knowledge.getSource(source.id)).status, 'syncing')
  proxy.isAway = false
  assert.is((await knowledge.waitForSync(source.id)).status, 'active')
  assert.is((await knowledge.searchNames(tool, 'barking dogs'))[0], 'b.md')
})

bucket.run()
