import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { aloud } from '../../harness/hooks.ts'
import { KnowledgeFixture, TemporaryFolder, waitFor } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('synchronization by itself')
let library: KnowledgeFixture
let embedder: ScriptedEmbedder
let model: { id: string }

test.before(
  aloud(async () => {
    library = await KnowledgeFixture.start()
    embedder = await ScriptedEmbedder.start()
    model = await library.resources.model(embedder.model)
  }),
)
test.after(
  aloud(async () => {
    await embedder.close()
    await library.close()
  }),
)

async function made(configuration: Record<string, unknown>) {
  const source = await library.createSource('folder', configuration)
  const tool = await library.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  return { source, tool }
}
/** As sources had it before seconds were refused; no test waits for a minute. */
async function everySecond({ id, configuration }: { id: string; configuration: object }) {
  const { database } = library.service
  const text = JSON.stringify({ ...configuration, schedule: '* * * * * *' })
  await database.write((transaction) => transaction.run('UPDATE knowledge_sources SET configuration = ? WHERE id = ?', [text, id]))
  await expectData(library.service.put(`/knowledge-sources/${id}`, { name: 'Every second' }))
}
const finds = (tool: { id: string }, query: string, names: string[]) =>
  waitFor(async () => (await library.searchNames(tool, query)).join() === names.join(), 50)

test('a watched folder is synchronized after it changes', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The heron nests by the pond.' })
  const { source, tool } = await made({ path: folder.path, watch: true })
  await library.sync(source.id)
  await finds(tool, 'heron', ['a.md'])
  folder.write({ 'b.md': 'The kestrel nests in the tower.', 'deep/c.md': 'The swift nests under the roof.' })
  await finds(tool, 'kestrel', ['b.md'])
  await finds(tool, 'swift', ['deep/c.md'])
  folder.write({ 'a.md': 'The stork nests on the chimney.' })
  await finds(tool, 'stork', ['a.md'])
  await finds(tool, 'heron', [])
  renameSync(join(folder.path, 'b.md'), join(folder.path, 'd.md'))
  await finds(tool, 'kestrel', ['d.md'])
  folder.remove('deep')
  await finds(tool, 'swift', [])
  await library.waitForSync(source.id)
  folder.remove()
})

test('a folder that is no longer to be watched is left alone', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'First.' })
  const { source } = await made({ path: folder.path, watch: true })
  await library.sync(source.id)
  await expectData(library.service.put(`/knowledge-sources/${source.id}`, { configuration: { path: folder.path } }))
  const { last_sync } = await library.waitForSync(source.id)
  folder.write({ 'b.md': 'Second.' })
  await pause(1_500)
  assert.is((await library.getSource(source.id)).last_sync, last_sync)
  folder.remove()
})

test('a schedule synchronizes when its time comes, and again', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The barge carries gravel.' })
  const { source, tool } = await made({ path: folder.path })
  await everySecond(source)
  await finds(tool, 'barge', ['a.md'])
  folder.write({ 'b.md': 'The tug pulls timber.' })
  await finds(tool, 'timber', ['b.md'])
  await expectData(library.service.put(`/knowledge-sources/${source.id}`, { configuration: { path: folder.path } }))
  await library.waitForSync(source.id)
  folder.remove()
})

test('a source whose synchronizations take longer than its schedule comes to an end all the same', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The clock strikes every second.' })
  const { source } = await made({ path: folder.path })
  await everySecond(source)
  embedder.hold()
  await waitFor(async () => embedder.holding > 0)
  await pause(2_500)
  embedder.release()
  await waitFor(async () => (await library.getSource(source.id)).status === 'active')
  await expectData(library.service.delete(`/knowledge-sources/${source.id}?force=true`))
  folder.remove()
})

test('what is deleted is neither watched nor scheduled any more', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'Soon gone.' })
  const { source } = await made({ path: folder.path, watch: true })
  await everySecond(source)
  await library.sync(source.id)
  await expectData(library.service.delete(`/knowledge-sources/${source.id}?force=true`))
  folder.write({ 'b.md': 'Nobody reads this.' })
  await pause(1_500)
  await expectError(library.service.get(`/knowledge-sources/${source.id}`), 'NOT_FOUND')
  const left = await library.service.database.all('SELECT id FROM documents WHERE knowledge_source_id = ?', [source.id])
  assert.equal(left, [])
  assert.not.match(library.service.log, /"level":50/)
  folder.remove()
})

test('a watch and a schedule survive a restart, and what changed meanwhile is found', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The ferry crosses at dawn.' })
  const { source, tool } = await made({ path: folder.path, watch: true })
  await library.sync(source.id)
  library = await library.restart(() => folder.write({ 'b.md': 'The pilot boards at noon.' }))
  await finds(tool, 'pilot', ['b.md'])
  await library.waitForSync(source.id)
  folder.write({ 'c.md': 'The crew sleeps at midnight.' })
  await finds(tool, 'midnight', ['c.md'])
  await library.waitForSync(source.id)
  folder.remove()
})

const SCHEDULES: Record<string, RegExp> = {
  'every night': /five fields/,
  '99 3 * * *': /not a cron expression/,
  '* * * * * *': /five fields.*has 6/,
  '0 0 3 * * * 2030': /five fields.*has 7/,
  '0 3 * *': /five fields.*has 4/,
  '2030-01-01T00:00:00': /five fields/,
  '@reboot': /five fields/,
}
for (const [schedule, error] of Object.entries(SCHEDULES)) {
  test(`the schedule "${schedule}" is refused`, async () => {
    const body = { name: 'x', type: 'folder', configuration: { path: '/nowhere', schedule } }
    await expectError(library.service.post('/knowledge-sources', body), 'VALIDATION_ERROR', { field: 'configuration.schedule', error })
  })
}

test('a schedule has five fields, or is one of their nicknames', async () => {
  for (const schedule of ['0 3 * * *', ' 0  3 * * MON ', '*/5 8-18 * * 1-5', '@daily', '@Hourly']) {
    const source = await library.createSource('folder', { path: '/nowhere', schedule })
    await expectData(library.service.delete(`/knowledge-sources/${source.id}`))
  }
})

test.run()
