import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { countResume } from '../../../daemon/store/job-resumes.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { isOnServer } from '../../harness/sqld/test-database.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture, TemporaryFolder } from '../knowledge-fixture.ts'

const test = suite('parked syncs')
const folder = new TemporaryFolder()
let knowledge: KnowledgeFixture

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
  }),
)
test.after(
  reportFailure(async () => {
    await knowledge.close()
    folder.remove()
  }),
)

const listStatuses = async (id: string) => (await knowledge.documents(id)).map(({ status }) => status)
const countDocuments = async (id: string) => (await knowledge.documents(id)).length

test('a watched folder whose sync ended the daemon too often is only synced by a user, and automatically after that', async () => {
  folder.write({ 'a.md': 'The heron nests by the pond.' })
  const { id } = await knowledge.createSource('folder', { path: folder.path, watch: true })
  await knowledge.sync(id)
  await knowledge.service.database.write(async (transaction) => {
    await transaction.run("UPDATE documents SET status = 'indexing' WHERE knowledge_source_id = ?", [id])
    for (let resume = 0; resume < 2; resume++) await countResume(transaction, 'sync', id)
  })
  knowledge = await knowledge.restart(() => folder.write({ 'b.md': 'The kestrel nests in the tower.' }))
  // On a server, a sync is parked when it is taken over, shortly after the start.
  if (isOnServer) await waitFor(async () => (await knowledge.getSource(id)).status === 'error')
  const parked = await knowledge.getSource(id)
  assert.equal([parked.status, await listStatuses(id)], ['error', ['waiting']])
  assert.match(parked.error, /ended twice after it had resumed this sync/)
  folder.write({ 'c.md': 'The swift nests under the roof.' })
  await pause(1_500) // a watched folder is synced within a second
  assert.equal([(await knowledge.getSource(id)).status, await countDocuments(id)], ['error', 1])

  assert.is((await knowledge.sync(id)).status, 'active')
  assert.equal(await listStatuses(id), ['indexed', 'indexed', 'indexed'])
  folder.write({ 'd.md': 'The stork nests on the chimney.' })
  await waitFor(async () => (await countDocuments(id)) === 4)
  assert.equal(await knowledge.service.database.all('SELECT * FROM job_resumes'), [])
})

test.run()
