import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { PausableDisk } from '../../harness/pausable-disk.ts'
import { isOnServer } from '../../harness/sqld/test-database.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const slowDisk = suite('syncs on a slow disk')
// The daemon flushes nothing if its records are on a server.
const test = isOnServer ? slowDisk.skip : slowDisk
const disk = new PausableDisk()
let knowledge: KnowledgeFixture

slowDisk.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start({ disk: disk.open })
  }),
)
slowDisk.after.each(() => disk.release())
slowDisk.after(reportFailure(() => knowledge.close()))

const hasStatus = (id: string, status: string) => async () => (await knowledge.getSource(id)).status === status

test('a source that reports a running sync can be followed immediately', async () => {
  const source = await knowledge.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
  disk.hold()
  const started = knowledge.startSync(source.id)
  await disk.holdAt(started, hasStatus(source.id, 'syncing'))
  assert.is.not((await knowledge.getSource(source.id)).progress, null)
  const followed = knowledge.service.get(`/knowledge-sources/${source.id}/sync/events`)
  disk.release()
  await started
  const { text } = await followed
  assert.match(text, /event: sync_end/)
  assert.not.match(text, /event: error/)
})

test('cancelling a sync that was requested while another ended resets the status', async () => {
  const source = await knowledge.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
  disk.hold()
  const first = knowledge.startSync(source.id)
  await disk.holdAt(first, hasStatus(source.id, 'syncing'))
  await disk.holdAt(first, hasStatus(source.id, 'active'))
  const again = knowledge.startSync(source.id)
  await knowledge.getSource(source.id) // both requests arrive before the disk is released
  const cancelled = knowledge.service.delete(`/knowledge-sources/${source.id}/sync`)
  await knowledge.getSource(source.id)
  disk.release()
  await Promise.all([first, again, expectData(cancelled)])
  const { status, progress } = await knowledge.getSource(source.id)
  assert.equal([status, progress], ['pending', null])
})

test('a tool that claims an index while it is being dropped gets an index', async () => {
  const source = await knowledge.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
  await knowledge.createTool(source.id)
  for (let commits = 0; commits < 12; commits++) {
    const settings = { chunk_size: 300, chunk_overlap: 0 }
    const first = await knowledge.createTool(source.id, settings)
    await knowledge.waitForSync(source.id)
    disk.hold()
    const deleted = expectData(knowledge.service.delete(`/retrieval-tools/${first.id}`))
    let passed = 0
    await disk.holdAt(deleted, async () => passed++ >= commits)
    const creation = knowledge.createTool(source.id, settings)
    await knowledge.getSource(source.id) // the request arrives before the disk is released
    disk.release()
    await deleted
    const { id } = await creation
    await knowledge.waitForSync(source.id)
    const used = await knowledge.service.database.all(
      'SELECT * FROM indexes JOIN index_users ON index_id = id WHERE user_id = ? AND ready = 1',
      [id],
    )
    assert.is(used.length, 1, `after ${commits} commits`)
    await expectData(knowledge.service.delete(`/retrieval-tools/${id}`))
    await knowledge.waitForSync(source.id)
  }
})

slowDisk.run()
