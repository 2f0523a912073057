import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createRandom } from '../harness/create-random.ts'
import { type DaemonProcess, startDaemon, TOKEN } from '../harness/daemon.ts'
import { reportFailure } from '../harness/hooks.ts'
import { waitFor } from '../harness/wait-for.ts'
import { readTableRows, TemporaryFolder } from '../knowledge/knowledge-fixture.ts'

const test = suite('kill -9 during a sync')
/** Once in each stage. The sync is resumed after the first two. */
const KILL_COUNT = 3
const SEED = 20_261
const STAGES = ['finding', 'reading', 'embedding']

const home = mkdtempSync(join(tmpdir(), 'cadre-kill-'))
const folder = new TemporaryFolder()
let daemon: DaemonProcess | undefined

test.after(
  reportFailure(async () => {
    await daemon?.kill()
    folder.remove()
    rmSync(home, { recursive: true, force: true })
  }),
)

const WORDS = 'harbour lantern meadow copper violin orchard thunder marble ribbon falcon anchor candle'.split(' ')

function createText(next: () => number): string {
  const sentence = () => `${Array.from({ length: 5 }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' ')}.`
  return Array.from({ length: 2 + Math.floor(next() * 4) }, (_, at) => `## Part ${at}\n\n${sentence()} ${sentence()}`).join('\n\n')
}

const restartDaemon = async () => {
  daemon = await startDaemon(home, { token: TOKEN })
  return daemon
}
const getSource = async (id: string) => (await (daemon as DaemonProcess).get(`/api/knowledge-sources/${id}`)).body.data

/** Waits for the interrupted sync, which is resumed twice. */
const waitForSync = (id: string) =>
  waitFor(
    async () => {
      const source = await getSource(id)
      return source.status !== 'syncing' && source.progress === null && source
    },
    { intervalMs: 50 },
  )

/** Waits until the sync has reached the stage or ended. */
const waitForStage = (id: string, stage: string) =>
  waitFor(
    async () => {
      const { progress, status } = await getSource(id)
      return status !== 'syncing' || STAGES.indexOf(progress?.stage) >= STAGES.indexOf(stage)
    },
    { intervalMs: 20 },
  )

/** Creates a source and a tool with small passages, so that a sync has several commits and embeds each quickly. */
async function createSource(name: string) {
  const { post } = daemon as DaemonProcess
  const source = await post('/api/knowledge-sources', { name, type: 'folder', configuration: { path: folder.path } })
  const id = source.body.data.id as string
  const tool = await post('/api/retrieval-tools', { name, knowledge_source_ids: [id], chunk_size: 150, chunk_overlap: 0 })
  return { id, tool: tool.body.data.id as string }
}

const startSync = async (id: string) =>
  assert.is((await (daemon as DaemonProcess).post(`/api/knowledge-sources/${id}/sync`, {})).status, 200)

/** Reads the passages of an index while the daemon is stopped, and asserts that each has exactly one vector. */
async function readPassages(id: string, names: Map<string, string>, indexId: string): Promise<string[]> {
  const rows = await readTableRows(join(home, 'vectors'), `${indexId}-text`)
  const vectors = await readTableRows(join(home, 'vectors'), `${indexId}-vectors`)
  assert.equal(vectors.map((row) => row.id).sort(), rows.map((row) => row.id).sort(), `each passage of ${id} has one vector`)
  return rows.map((row) => JSON.stringify([names.get(row.document_id), row.position, row.content])).sort()
}

test('a sync killed three times, started again if it is not resumed, has the same passages as an undisturbed one', async () => {
  const next = createRandom(SEED)
  const files = () => Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${at % 4}/${at}.md`, createText(next)]))
  folder.write(files())
  await restartDaemon()
  const { id: disturbed, tool: first } = await createSource('disturbed')
  await startSync(disturbed)
  let interrupted = 0
  for (let kill = 0; kill < KILL_COUNT; kill++) {
    await waitForStage(disturbed, STAGES[kill % STAGES.length] as string)
    await pause(next() * 300)
    if ((await getSource(disturbed)).status === 'syncing') interrupted++
    await (daemon as DaemonProcess).kill()
    // Changes and deletes files while the daemon is down, so that every sync has work.
    folder.write(Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`${at % 4}/${(kill * 5 + at) % 60}.md`, createText(next)])))
    folder.remove(`${(kill * 7) % 4}/${kill * 7}.md`)
    await restartDaemon()
    if ((await getSource(disturbed)).status !== 'syncing') await startSync(disturbed)
  }
  assert.ok(interrupted > 1, `only ${interrupted} kills interrupted a sync`)
  assert.is((await waitForSync(disturbed)).status, 'active')
  await startSync(disturbed)
  const ended = await waitForSync(disturbed)
  const { id: undisturbed, tool: second } = await createSource('undisturbed')
  await startSync(undisturbed)
  const expected = await waitForSync(undisturbed)
  assert.equal(ended.statistics, expected.statistics)
  assert.equal([ended.status, ended.statistics.failed], ['active', 0])

  const names = new Map<string, string>()
  for (const id of [disturbed, undisturbed]) {
    for (let page = 1; names.size < 1_000; page++) {
      const { body } = await (daemon as DaemonProcess).get(`/api/knowledge-sources/${id}/documents?limit=100&page=${page}`)
      for (const document of body.data) names.set(document.id, document.name)
      if (page >= body.pagination.pages) break
    }
  }
  const found = []
  for (const tool of [first, second]) {
    const { body } = await (daemon as DaemonProcess).post(`/api/retrieval-tools/${tool}/search`, {
      query: 'falcon on the marble harbour',
      top_k: 20,
    })
    found.push(body.data.results.map((result: { content: string; score: number }) => [result.content, result.score.toFixed(4)]))
  }
  assert.ok(found[0].length > 0)
  assert.equal(found[0], found[1])
  await (daemon as DaemonProcess).stop()

  const { openDatabase } = await import('../../daemon/store/database.ts')
  const database = openDatabase(join(home, 'cadre.db'))
  const indexes = await database.all<{ id: string; knowledge_source_id: string; batch: string | null; ready: number }>(
    'SELECT * FROM indexes',
  )
  await database.close()
  const listIndexes = (id: string) => indexes.filter((index) => index.knowledge_source_id === id)
  for (const id of [disturbed, undisturbed])
    assert.equal(
      listIndexes(id).map(({ batch, ready }) => [batch, ready]),
      [[null, 1]],
    )
  const [had, should] = await Promise.all([disturbed, undisturbed].map((id) => readPassages(id, names, listIndexes(id)[0]?.id as string)))
  assert.ok((should as string[]).length > 256)
  assert.equal(had, should)
  const log = readFileSync(join(home, 'logs', 'daemon.log'), 'utf8')
  assert.not.match(log, /could not be resumed|cannot (check an index|start the queued sync)/)
})

test.run()
