import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { isOnServer } from '../../harness/sqld/test-database.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { createGuardedBackend, createProject } from './git-server.ts'

const PASSWORD = 'canary-old-8Mm3'
const BASIC = `Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}`

const credentials = suite<{ root: string; library: KnowledgeFixture; server: RecordingServer; id: string; plain: string }>(
  'credentials in repository URLs of older versions',
)
// Older versions had no servers.
const test = isOnServer ? credentials.skip : credentials

credentials.before.each(
  reportFailure(async (context) => {
    context.root = mkdtempSync(join(tmpdir(), 'cadre-old-'))
    createProject(join(context.root, 'projects'), 'docs', 'The heron nests by the pond.')
    context.server = await startRecordingServer(createGuardedBackend(join(context.root, 'projects'), [BASIC]))
    context.server.listenerReadsBody = true
    context.library = await KnowledgeFixture.start()
    const { library, server } = context
    context.plain = `http://127.0.0.1:${server.port}/docs`
    const source = await library.createSource('git', { repository: context.plain, allow_private_network: true })
    context.id = source.id
    const held = { ...source.configuration, repository: context.plain.replace('//', `//ada:${PASSWORD}@`) }
    await library.service.database.write((transaction) =>
      transaction.run('UPDATE knowledge_sources SET configuration = ? WHERE id = ?', [JSON.stringify(held), source.id]),
    )
    // On the same database page: overwritten data before another row would stay in the file.
    await library.createSource()
  }),
)
credentials.after.each(
  reportFailure(async ({ root, library, server }) => {
    await library.close()
    await server.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }),
)

/** Returns the files of the home that contain the password in clear text. */
function findLeaks({ service: { paths } }: KnowledgeFixture): string[] {
  const files = readdirSync(paths.home, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(paths.home, name)).isFile())
  return files.filter((name) => readFileSync(join(paths.home, name)).includes(PASSWORD))
}

test('credentials in a stored URL are sealed and wiped from disk at the next start', async (context) => {
  assert.ok(findLeaks(context.library).length > 0, 'this test would find it')
  context.library = await context.library.restart()
  // The write-ahead log is deleted when the daemon stops.
  context.library = await context.library.restart()
  assert.equal(findLeaks(context.library), [])
  const source = await context.library.getSource(context.id)
  assert.equal([source.configuration.repository, source.auth], [context.plain, { type: 'basic' }])
  const synced = await context.library.sync(context.id)
  assert.equal([synced.status, synced.error, synced.statistics.documents], ['active', null, 1])
  assert.not.match(JSON.stringify(await expectData(context.library.service.get('/export'))), PASSWORD)
  assert.equal(findLeaks(context.library), [])
})

test('a password in an ssh URL is removed', async (context) => {
  const held = JSON.stringify({ repository: `ssh://git:${PASSWORD}@example.com/docs` })
  await context.library.service.database.write((transaction) =>
    transaction.run('UPDATE knowledge_sources SET configuration = ? WHERE id = ?', [held, context.id]),
  )
  context.library = await context.library.restart()
  const source = await context.library.getSource(context.id)
  assert.equal([source.configuration.repository, source.auth], ['ssh://git@example.com/docs', { type: 'none' }])
})

test('credentials in a stored URL are hidden but used while the vault is locked', async (context) => {
  const { vaultKey } = context.library.service.paths
  context.library = await context.library.restart(() => renameSync(vaultKey, `${vaultKey}.away`))
  const source = await context.library.getSource(context.id)
  assert.equal([source.configuration.repository, source.auth], [context.plain, { type: 'none' }])
  const synced = await context.library.sync(context.id)
  assert.equal([synced.status, synced.error], ['active', null])
  assert.not.match(JSON.stringify([source, synced, await expectData(context.library.service.get('/export'))]), PASSWORD)
  assert.not.match(context.library.service.log, PASSWORD)
  context.library = await context.library.restart(() => renameSync(`${vaultKey}.away`, vaultKey))
  assert.equal((await context.library.getSource(context.id)).auth, { type: 'basic' })
})

credentials.run()
