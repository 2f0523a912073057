import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Database } from '../../../daemon/store/database.ts'
import { countResume } from '../../../daemon/store/job-resumes.ts'
import { openServerDatabase } from '../../../daemon/store/remote/server-database.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { isSqldInstalled, Sqld } from '../../harness/sqld/start-sqld.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture } from '../../knowledge/knowledge-fixture.ts'
import { ScriptedEmbedder } from '../../knowledge/scripted-embedder.ts'

const test = suite('syncs of several daemons')
const check = isSqldInstalled() ? test : test.skip

let sqld: Sqld
let database: Database
/** On one home, so that they share documents and vectors. */
let a: KnowledgeFixture
let b: KnowledgeFixture
let embedder: ScriptedEmbedder
let source: Json

if (isSqldInstalled()) {
  test.before(
    reportFailure(async () => {
      sqld = await Sqld.start()
      const databaseServer = { url: sqld.url, token: undefined }
      a = await KnowledgeFixture.start({ databaseServer })
      b = await KnowledgeFixture.start({ databaseServer, home: a.service.paths.home })
      database = await openServerDatabase(databaseServer)
      embedder = await ScriptedEmbedder.start()
      const model = await a.resources.model(embedder.model)
      source = (await a.createSourceWithTool(model.id)).source
    }),
  )
  test.after(
    reportFailure(async () => {
      await Promise.all([b.service.stop(), embedder.close(), database.close()])
      await a.close()
      sqld.remove()
    }),
  )
}

const getHolder = async () =>
  (await database.get<{ holder: string }>('SELECT holder FROM leases WHERE name = ?', [`sync/${source.id}`]))?.holder

check('a sync that another daemon requests is run by the daemon of the source, which reports its progress', async () => {
  const holder = await getHolder()
  await a.addDocument(source.id, 'a.md', 'The brass key opens the attic.')
  embedder.hold()
  const before = embedder.requests
  for (const each of [b, a, b]) assert.is((await each.startSync(source.id)).status, 'syncing')
  await waitFor(async () => (await b.getSource(source.id)).progress?.stage === 'embedding')
  await waitFor(async () => embedder.holding > 0)
  assert.is(embedder.requests - before, 1)
  const events = b.service.get(`/knowledge-sources/${source.id}/sync/events`)
  embedder.release()
  const lines = (await events).text.split('\n').filter((line) => line.startsWith('data: '))
  const ended = JSON.parse(lines.at(-1)?.slice('data: '.length) as string)
  assert.equal([ended.status, ended.changes.embedded], ['active', 1])
  assert.is(await getHolder(), holder)
  const { statistics } = await b.waitForSync(source.id)
  assert.equal(statistics, { documents: 1, chunks: 1, failed: 0, skipped: 0, skipped_types: {}, embedded: 1, recognizing: 0 })
})

check('a sync is cancelled through another daemon', async () => {
  await a.addDocument(source.id, 'b.md', 'Sent before the sync was cancelled.')
  embedder.hold()
  await a.startSync(source.id)
  await waitFor(async () => embedder.holding > 0)
  await expectData(b.service.delete(`/knowledge-sources/${source.id}/sync`))
  assert.is((await a.getSource(source.id)).status, 'pending')
  embedder.release()
  await expectError(b.service.delete(`/knowledge-sources/${source.id}/sync`), 'CONFLICT')
})

check('a daemon takes over the sync of one that ended', async () => {
  await database.write(async (transaction) => {
    await transaction.run("UPDATE leases SET holder = 'ended' WHERE name = ?", [`sync/${source.id}`])
    await transaction.run("UPDATE knowledge_sources SET status = 'syncing' WHERE id = ?", [source.id])
  })
  const c = await KnowledgeFixture.start({ databaseServer: { url: sqld.url, token: undefined }, home: a.service.paths.home })
  await waitFor(async () => (await getHolder()) !== 'ended')
  const { status, statistics } = await c.waitForSync(source.id)
  assert.equal(
    [status, statistics],
    ['active', { documents: 2, chunks: 2, failed: 0, skipped: 0, skipped_types: {}, embedded: 2, recognizing: 0 }],
  )
  await c.service.stop()
  // Unless one of the others has taken it over already.
  assert.equal(await database.all("SELECT holder FROM leases WHERE holder <> '' AND holder NOT IN (SELECT id FROM live_daemons)"), [])
})

check('a sync that a user starts is not parked because of what happened before it', async () => {
  await database.write(async (transaction) => {
    for (let resume = 0; resume < 2; resume++) await countResume(transaction, 'sync', source.id)
  })
  await b.sync(source.id)
  assert.equal(await database.all('SELECT * FROM job_resumes'), [])
})

check('a source that one daemon deletes is forgotten by all', async () => {
  await expectData(b.service.delete(`/knowledge-sources/${source.id}?force=true`))
  await expectError(a.service.get(`/knowledge-sources/${source.id}`), 'NOT_FOUND')
  assert.is(await getHolder(), undefined)
})

test.run()
