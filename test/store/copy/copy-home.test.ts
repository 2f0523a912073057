import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { prepareHome } from '../../../daemon/process/home.ts'
import { copyHome } from '../../../daemon/store/copy/copy-home.ts'
import { copyRecords } from '../../../daemon/store/copy/copy-records.ts'
import { type Database, openDatabase } from '../../../daemon/store/database.ts'
import { migrate } from '../../../daemon/store/migrate.ts'
import { homePaths, type Paths } from '../../../src/config.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { expectData } from '../../harness/expect.ts'
import { BUCKET, isCephInstalled, ObjectStore } from '../../harness/object-store/start-object-store.ts'
import { isSqldInstalled, Sqld } from '../../harness/sqld/start-sqld.ts'
import { KnowledgeFixture } from '../../knowledge/knowledge-fixture.ts'

const test = suite('copying a home')
const root = mkdtempSync(join(tmpdir(), 'cadre-copy-'))
const report = () => {}
const noFinish = async () => {}

test.after(() => rmSync(root, { recursive: true, force: true }))

async function rejects(work: Promise<unknown>): Promise<Error> {
  const outcome = await work.catch((error: unknown) => error)
  assert.instance(outcome, Error)
  return outcome as Error
}

async function createRecords(name: string, rows = 0): Promise<Database> {
  const database = openDatabase(join(root, `${name}.db`))
  if (rows === 0) return database
  await migrate(database)
  await database.write(async (transaction) => {
    for (let row = 0; row < rows; row++)
      await transaction.run(
        `INSERT INTO prompt_templates (id, name, name_key, description, template, variables, type, created_at, updated_at)
         VALUES (?, ?, ?, '', '', '[]', 'system', '', '')`,
        [`prompt_${row}`, `Prompt ${row}`, `prompt ${row}`],
      )
  })
  return database
}

const countPrompts = async (database: Database) =>
  await database.get<{ rows: number; total: number }>(
    "SELECT count(*) AS rows, (SELECT total FROM counts WHERE name = 'prompt_templates') AS total FROM prompt_templates",
  )

test('records are copied with their counts, and the source does not change', async () => {
  const [source, target] = [await createRecords('source', 1_200), await createRecords('target')]
  const before = await source.all('SELECT * FROM prompt_templates ORDER BY id')
  await copyRecords(source, target, report, noFinish)
  assert.equal(await countPrompts(target), { rows: 1_200, total: 1_200 })
  assert.equal(await target.all('SELECT * FROM prompt_templates ORDER BY id'), before)
  assert.equal(await source.all('SELECT * FROM prompt_templates ORDER BY id'), before)
  const list = (database: Database) => database.all('SELECT name, sql FROM sqlite_master ORDER BY name')
  assert.equal(await list(target), await list(source))
  // The triggers count again.
  await target.write((transaction) => transaction.run("DELETE FROM prompt_templates WHERE id = 'prompt_0'"))
  assert.is((await countPrompts(target))?.total, 1_199)
  assert.match((await rejects(copyRecords(source, target, report, noFinish))).message, /is not empty/)
  await Promise.all([source.close(), target.close()])
})

test('an interrupted copy is continued, and no daemon uses it before it is complete', async () => {
  const [source, target] = [await createRecords('long', 1_700), await createRecords('partial')]
  let copied = 0
  const interrupt = ({ label, done }: { label: string; done: number }) => {
    if (label.startsWith('Copying') && done > 1_000) throw new Error('killed')
    copied = done
  }
  assert.is((await rejects(copyRecords(source, target, interrupt, noFinish))).message, 'killed')
  assert.ok(copied > 0)
  assert.match((await rejects(migrate(target))).message, /Run the same cadre migrate command again/)
  const stranger = await createRecords('stranger', 3)
  assert.match((await rejects(copyRecords(stranger, target, report, noFinish))).message, /is not empty/)
  await copyRecords(source, target, report, noFinish)
  assert.equal(await countPrompts(target), { rows: 1_700, total: 1_700 })
  await migrate(target)
  await Promise.all([source.close(), target.close(), stranger.close()])
})

test('a copy that differs is reported', async () => {
  const [source, target] = [await createRecords('good', 10), await createRecords('bad')]
  const damage = async ({ label }: { label: string }) => {
    if (label.startsWith('Verifying')) return
    await target.write((transaction) => transaction.run("UPDATE prompt_templates SET name = 'changed' WHERE id = 'prompt_3'"))
  }
  const found = await rejects(copyRecords(source, target, (progress) => void damage(progress), noFinish))
  assert.match(found.message, /The copy of the table prompt_templates differs/)
  await Promise.all([source.close(), target.close()])
})

if (isCephInstalled() && isSqldInstalled()) {
  let [store, sqld]: [ObjectStore | undefined, Sqld | undefined] = [undefined, undefined]
  test.before(async () => {
    ;[store, sqld] = await Promise.all([ObjectStore.start(), Sqld.start()])
  })
  test.after(() => {
    store?.remove()
    sqld?.remove()
  })

  /** All files of the home with their content. */
  const snapshot = ({ documents, vectors }: Paths) =>
    [documents, vectors].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => `${path} ${readFileSync(path).toString('base64')}`)
        .sort(),
    )

  test('a home is copied to servers and back: its answers stay the same', async () => {
    const first = await KnowledgeFixture.start({ home: join(root, 'home') })
    const source = await first.createSyncedSource({ 'a.md': '# Leave\n\nEmployees get thirty days.', 'b.md': 'Ducks swim.' })
    const tool = await first.createTool(source.id)
    const expected = await first.search(tool, 'days of leave')
    const { paths } = first.service
    await first.service.stop()
    const before = snapshot(paths)
    const servers = {
      database: { url: (sqld as Sqld).url, token: undefined },
      storage: { ...(store as ObjectStore).address, url: `s3://${BUCKET}/copied` },
    }
    // Interrupted, and continued.
    const interrupt = ({ label }: { label: string }) => {
      if (label === 'Verifying files') throw new CadreError('UNAVAILABLE', 'killed')
    }
    await rejects(copyHome({ paths, source: {}, target: servers, report: interrupt }))
    const { rows, files } = await copyHome({ paths, source: {}, target: servers, report })
    assert.ok(rows > 10 && files >= 4)
    assert.equal(snapshot(paths), before)

    const storage = { ...servers.storage, cacheBytes: 1024 ** 3 }
    const other = join(root, 'other')
    const second = await KnowledgeFixture.start({ home: other, databaseServer: servers.database, storage })
    assert.equal(await second.search(tool, 'days of leave'), expected)
    const running = rejects(
      copyHome({ paths: homePaths({ CADRE_HOME: join(root, 'back') }), source: servers, target: { database: undefined }, report }),
    )
    assert.match((await running).message, /Daemons are running/)
    await second.sync(source.id)
    await second.service.stop()

    const back = homePaths({ CADRE_HOME: join(root, 'back') })
    prepareHome(back)
    await copyHome({ paths: back, source: servers, target: { database: undefined, storage: undefined }, report })
    const third = await KnowledgeFixture.start({ home: back.home })
    assert.equal(await third.search(tool, 'days of leave'), expected)
    assert.is((await expectData(third.service.get('/knowledge-sources'))).length, 1)
    assert.ok(existsSync(back.database))
    await third.close()
  })

  test('only documents are copied: the daemon continues with the same records', async () => {
    const first = await KnowledgeFixture.start({ home: join(root, 'partial-home') })
    const source = await first.createSyncedSource({ 'a.md': 'Employees get thirty days of leave.' })
    const tool = await first.createTool(source.id)
    const { paths } = first.service
    await first.service.stop()
    const address = { ...(store as ObjectStore).address, url: `s3://${BUCKET}/only` }
    const storage = { ...address, cacheBytes: 1024 ** 3 }
    assert.match((await rejects(KnowledgeFixture.start({ home: paths.home, storage }))).message, /not in s3:.* but in the home/)
    await copyHome({ paths, source: {}, target: { storage: address }, report })
    const second = await KnowledgeFixture.start({ home: paths.home, storage })
    assert.is((await second.search(tool, 'leave')).length, 1)
    await second.addDocument(source.id, 'c.md', 'Cats sleep.')
    await second.sync(source.id)
    assert.is((await second.searchNames(tool, 'sleeping cats'))[0], 'c.md')
    await second.close()
  })
}

test.run()
