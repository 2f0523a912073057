import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { isInBucket } from '../../harness/object-store/test-storage.ts'
import { copyHome, PausableDisk } from '../../harness/pausable-disk.ts'
import { isOnServer } from '../../harness/sqld/test-database.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const recovery = suite('recovery after a kill')
// The home of a killed daemon is copied, with its records and vectors.
const test = isOnServer || isInBucket ? recovery.skip : recovery
const disk = new PausableDisk()
let knowledge: KnowledgeFixture

recovery.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start({ disk: disk.open })
  }),
)
recovery.after.each(() => disk.release())
recovery.after(reportFailure(() => knowledge.close()))

/** Starts a service on a copy of the home as after a kill. A sync waits for the repair at startup. */
async function restartAfterKill(): Promise<KnowledgeFixture> {
  const after = await KnowledgeFixture.start({ home: copyHome(knowledge.service.paths.home) })
  disk.release()
  await after.createSyncedSource({ 'barrier.md': 'This is read after the repair.' })
  return after
}

test('the restart removes the snapshot of an interrupted backup before another one can be written', async () => {
  writeFileSync(join(knowledge.service.paths.work, 'backup-1.db'), '')
  const after = await KnowledgeFixture.start({ home: copyHome(knowledge.service.paths.home) })
  const { work } = after.service.paths
  writeFileSync(join(work, 'backup-2.db'), '')
  await after.createSyncedSource({ 'barrier.md': 'This is read after the repair.' })
  assert.equal(
    readdirSync(work).filter((name) => name.startsWith('backup')),
    ['backup-2.db'],
  )
  await after.close()
})

test('the restart removes the index, tables and clone of a deleted source', async () => {
  const source = await knowledge.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
  const [index] = await knowledge.listIndexes(source.id)
  const clone = join(knowledge.service.paths.work, source.id)
  mkdirSync(clone, { recursive: true })
  writeFileSync(join(clone, 'HEAD'), 'ref: refs/heads/main')
  disk.hold()
  const deleted = expectData(knowledge.service.delete(`/knowledge-sources/${source.id}`))
  await disk.holdAt(deleted, async () => (await knowledge.service.get(`/knowledge-sources/${source.id}`)).status === 404)
  const after = await restartAfterKill()
  await deleted
  assert.equal(await after.listIndexes(source.id), [])
  assert.equal(await after.service.database.all('SELECT * FROM index_documents WHERE index_id = ?', [index.id]), [])
  assert.equal(
    (await after.listTables()).filter((name) => name.startsWith(index.id)),
    [],
  )
  assert.not.ok(existsSync(join(after.service.paths.work, source.id)))
  await after.close()
})

for (const stage of ['parsing', 'indexing']) {
  test(`the restart completes a document that was ${stage} when its tool changed`, async () => {
    const source = await knowledge.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
    const tool = await knowledge.createTool(source.id)
    await knowledge.waitForSync(source.id)
    await knowledge.addDocument(source.id, 'b.md', 'The copper key opens the cellar.')
    disk.hold()
    const renamed = expectData(knowledge.service.put(`/retrieval-tools/${tool.id}`, { name: `renamed while ${stage}` }))
    await disk.holdAt(renamed, async () => (await knowledge.getDocument(source.id, 'b.md')).status === stage)
    if (stage === 'indexing') {
      const [index] = await knowledge.listIndexes(source.id)
      const embedded = 'SELECT 1 FROM index_documents WHERE index_id = ? AND embedded = 0'
      await disk.holdAt(renamed, async () => (await knowledge.service.database.all(embedded, [index.id])).length === 0)
    }
    assert.equal(
      [(await knowledge.getSource(source.id)).status, (await knowledge.getDocument(source.id, 'b.md')).status],
      ['active', stage],
    )
    const after = await restartAfterKill()
    await renamed
    assert.equal((await after.waitForSync(source.id)).statistics, {
      documents: 2,
      chunks: 2,
      failed: 0,
      skipped: 0,
      skipped_types: {},
      embedded: 2,
      recognizing: 0,
    })
    assert.is((await after.getDocument(source.id, 'b.md')).status, 'indexed')
    await after.close()
  })
}

recovery.run()
