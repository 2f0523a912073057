import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { HeldDisk } from '../../harness/held-disk.ts'
import { aloud } from '../../harness/hooks.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const test = suite('synchronizations on a slow disk')
const disk = new HeldDisk()
let library: KnowledgeFixture

test.before(
  aloud(async () => {
    library = await KnowledgeFixture.start({ disk: disk.open })
  }),
)
test.after.each(() => disk.release())
test.after(aloud(() => library.close()))

const stands = (id: string, status: string) => async () => (await library.getSource(id)).status === status

test('whoever reads that one is under way can follow it, be it never so new', async () => {
  const source = await library.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
  disk.hold()
  const started = library.startSync(source.id)
  await disk.holdAt(started, stands(source.id, 'syncing'))
  assert.is.not((await library.getSource(source.id)).progress, null)
  const followed = library.service.get(`/knowledge-sources/${source.id}/sync/events`)
  disk.release()
  await started
  const { text } = await followed
  assert.match(text, /event: sync_end/)
  assert.not.match(text, /event: error/)
})

test('one that is asked for as the one before it ends, and then cancelled, is not said to be under way for ever', async () => {
  const source = await library.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
  disk.hold()
  const first = library.startSync(source.id)
  await disk.holdAt(first, stands(source.id, 'syncing'))
  await disk.holdAt(first, stands(source.id, 'active'))
  const again = library.startSync(source.id)
  await library.getSource(source.id) // both are taken before the disk is done
  const cancelled = library.service.delete(`/knowledge-sources/${source.id}/sync`)
  await library.getSource(source.id)
  disk.release()
  await Promise.all([first, again, expectData(cancelled)])
  const { status, progress } = await library.getSource(source.id)
  assert.equal([status, progress], ['pending', null])
})

test('a tool that takes up what is just being tidied away has an index all the same', async () => {
  const source = await library.createSyncedSource({ 'a.md': 'The brass key opens the attic.' })
  await library.createTool(source.id)
  for (let commits = 0; commits < 12; commits++) {
    const settings = { chunk_size: 300, chunk_overlap: 0 }
    const first = await library.createTool(source.id, settings)
    await library.waitForSync(source.id)
    disk.hold()
    const deleted = expectData(library.service.delete(`/retrieval-tools/${first.id}`))
    let passed = 0
    await disk.holdAt(deleted, async () => passed++ >= commits)
    const made = library.createTool(source.id, settings)
    await library.getSource(source.id) // it is taken before the disk is done
    disk.release()
    await deleted
    const { id } = await made
    await library.waitForSync(source.id)
    const used = await library.service.database.all(
      'SELECT * FROM indexes JOIN index_users ON index_id = id WHERE user_id = ? AND ready = 1',
      [id],
    )
    assert.is(used.length, 1, `after ${commits} commits`)
    await expectData(library.service.delete(`/retrieval-tools/${id}`))
    await library.waitForSync(source.id)
  }
})

test.run()
