import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture, TemporaryFolder } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('sync triggers')
let knowledge: KnowledgeFixture
let embedder: ScriptedEmbedder
let model: { id: string }

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    embedder = await ScriptedEmbedder.start()
    model = await knowledge.resources.model(embedder.model)
  }),
)
test.after(
  reportFailure(async () => {
    await embedder.close()
    await knowledge.close()
  }),
)

async function createFolderSource(configuration: Record<string, unknown>) {
  const source = await knowledge.createSource('folder', configuration)
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  return { source, tool }
}
/** Older versions accepted a field for seconds; the test need not wait for a minute. */
async function scheduleEverySecond({ id, configuration }: { id: string; configuration: object }) {
  const { database } = knowledge.service
  const text = JSON.stringify({ ...configuration, schedule: '* * * * * *' })
  await database.write((transaction) => transaction.run('UPDATE knowledge_sources SET configuration = ? WHERE id = ?', [text, id]))
  await expectData(knowledge.service.put(`/knowledge-sources/${id}`, { name: 'Every second' }))
}
const waitForNames = (tool: { id: string }, query: string, names: string[]) =>
  waitFor(async () => (await knowledge.searchNames(tool, query)).join() === names.join(), { intervalMs: 50 })

test('a watched folder is synced after each change', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The heron nests by the pond.' })
  const { source, tool } = await createFolderSource({ path: folder.path, watch: true })
  await knowledge.sync(source.id)
  await waitForNames(tool, 'heron', ['a.md'])
  folder.write({ 'b.md': 'The kestrel nests in the tower.', 'deep/c.md': 'The swift nests under the roof.' })
  await waitForNames(tool, 'kestrel', ['b.md'])
  await waitForNames(tool, 'swift', ['deep/c.md'])
  folder.write({ 'a.md': 'The stork nests on the chimney.' })
  await waitForNames(tool, 'stork', ['a.md'])
  await waitForNames(tool, 'heron', [])
  renameSync(join(folder.path, 'b.md'), join(folder.path, 'd.md'))
  await waitForNames(tool, 'kestrel', ['d.md'])
  folder.remove('deep')
  await waitForNames(tool, 'swift', [])
  await knowledge.waitForSync(source.id)
  folder.remove()
})

test('a folder is not synced after watch is turned off', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'First.' })
  const { source } = await createFolderSource({ path: folder.path, watch: true })
  await knowledge.sync(source.id)
  await expectData(knowledge.service.put(`/knowledge-sources/${source.id}`, { configuration: { path: folder.path } }))
  const { last_sync } = await knowledge.waitForSync(source.id)
  folder.write({ 'b.md': 'Second.' })
  await pause(1_500)
  assert.is((await knowledge.getSource(source.id)).last_sync, last_sync)
  folder.remove()
})

test('a schedule starts syncs repeatedly', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The barge carries gravel.' })
  const { source, tool } = await createFolderSource({ path: folder.path })
  await scheduleEverySecond(source)
  await waitForNames(tool, 'barge', ['a.md'])
  folder.write({ 'b.md': 'The tug pulls timber.' })
  await waitForNames(tool, 'timber', ['b.md'])
  await expectData(knowledge.service.put(`/knowledge-sources/${source.id}`, { configuration: { path: folder.path } }))
  await knowledge.waitForSync(source.id)
  folder.remove()
})

test('a sync that takes longer than its schedule completes', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The clock strikes every second.' })
  const { source } = await createFolderSource({ path: folder.path })
  await scheduleEverySecond(source)
  embedder.hold()
  await waitFor(async () => embedder.holding > 0)
  await pause(2_500)
  embedder.release()
  await waitFor(async () => (await knowledge.getSource(source.id)).status === 'active')
  await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}?force=true`))
  folder.remove()
})

test('a deleted source is neither watched nor scheduled', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'Soon gone.' })
  const { source } = await createFolderSource({ path: folder.path, watch: true })
  await scheduleEverySecond(source)
  await knowledge.sync(source.id)
  await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}?force=true`))
  folder.write({ 'b.md': 'Nobody reads this.' })
  await pause(1_500)
  await expectError(knowledge.service.get(`/knowledge-sources/${source.id}`), 'NOT_FOUND')
  const left = await knowledge.service.database.all('SELECT id FROM documents WHERE knowledge_source_id = ?', [source.id])
  assert.equal(left, [])
  assert.not.match(knowledge.service.log, /"level":50/)
  folder.remove()
})

test('a watch survives a restart and changes in between are found', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The ferry crosses at dawn.' })
  const { source, tool } = await createFolderSource({ path: folder.path, watch: true })
  await knowledge.sync(source.id)
  knowledge = await knowledge.restart(() => folder.write({ 'b.md': 'The pilot boards at noon.' }))
  await waitForNames(tool, 'pilot', ['b.md'])
  await knowledge.waitForSync(source.id)
  folder.write({ 'c.md': 'The crew sleeps at midnight.' })
  await waitForNames(tool, 'midnight', ['c.md'])
  await knowledge.waitForSync(source.id)
  folder.remove()
})

const SCHEDULES: Record<string, RegExp> = {
  'every night': /five fields/,
  '99 3 * * *': /not a cron expression/,
  '* * * * * *': /five fields; this one has 6/,
  '0 0 3 * * * 2030': /five fields; this one has 7/,
  '0 3 * *': /five fields; this one has 4/,
  '2030-01-01T00:00:00': /five fields/,
  '@reboot': /five fields/,
}
for (const [schedule, error] of Object.entries(SCHEDULES)) {
  test(`the schedule "${schedule}" is rejected`, async () => {
    const body = { name: 'x', type: 'folder', configuration: { path: '/nowhere', schedule } }
    await expectError(knowledge.service.post('/knowledge-sources', body), 'VALIDATION_ERROR', { field: 'configuration.schedule', error })
  })
}

test('a schedule with five fields or a nickname is accepted', async () => {
  for (const schedule of ['0 3 * * *', ' 0  3 * * MON ', '*/5 8-18 * * 1-5', '@daily', '@Hourly']) {
    const source = await knowledge.createSource('folder', { path: '/nowhere', schedule })
    await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}`))
  }
})

test.run()
