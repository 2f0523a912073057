import { closeSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase, validateIntegrity } from '../../daemon/store/database.ts'
import { expectError } from '../harness/expect.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite<{ folder: string; path: string }>('damaged database')

test.before.each(async (context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'cadre-damage-'))
  context.path = join(context.folder, 'cadre.db')
})
test.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }))

const PAGE_SIZE = 4096

async function createDatabase(path: string): Promise<void> {
  const database = openDatabase(path)
  await database.write(async (transaction) => {
    await transaction.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)')
    for (let id = 0; id < 500; id++) await transaction.run('INSERT INTO notes VALUES (?, ?)', [id, 'x'.repeat(500)])
  })
  await database.close()
}

/** Overwrites the pages after the first ones. */
function overwritePages(path: string, first: number): void {
  const file = openSync(path, 'r+')
  for (let at = first * PAGE_SIZE; at < statSync(path).size; at += PAGE_SIZE)
    writeSync(file, Buffer.alloc(PAGE_SIZE, 0xff), 0, PAGE_SIZE, at)
  closeSync(file)
}

const DAMAGE: Record<string, (path: string) => void> = {
  'another file': (path) => writeFileSync(path, 'This is not a database.'),
  'a cut header': (path) => truncateSync(path, 100),
  'a cut file': (path) => truncateSync(path, 20 * PAGE_SIZE),
  'overwritten pages': (path) => overwritePages(path, 10),
}

for (const [what, damage] of Object.entries(DAMAGE))
  test(`${what} is found, and the file and the way to restore it are named`, async ({ path }) => {
    await createDatabase(path)
    assert.is(validateIntegrity(path), undefined)
    damage(path)
    const error = validateIntegrity(path)
    assert.is(error?.code, 'UNAVAILABLE')
    assert.match(error?.message ?? '', `The database ${path} is damaged`)
    assert.match(error?.hint ?? '', 'backup')
    assert.match(error?.hint ?? '', `${path}-wal`)
  })

test('a query that reads a damaged page names the file, and the database remembers it', async ({ path }) => {
  await createDatabase(path)
  const database = openDatabase(path)
  overwritePages(path, 10)
  assert.is(database.isDamaged(), false)
  const error = await database.all('SELECT * FROM notes').catch((thrown: Error) => thrown)
  assert.match((error as Error).message, `${path} is damaged`)
  assert.is(database.isDamaged(), true)
  await database.close()
})

test('health does not load LanceDB', async () => {
  const server = await TestServer.start()
  assert.is((await server.get('/health')).body.vector_db, 'connected')
  const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes('@lancedb'))
  assert.equal(loaded, [])
  await server.close()
})

test('health reports a vector store that cannot be read', async () => {
  const server = await TestServer.start()
  rmSync(server.paths.vectors, { recursive: true })
  const { status, body } = await server.get('/health')
  assert.equal([status, body.vector_db, body.database], [503, 'disconnected', 'connected'])
  await server.close()
})

test('a daemon with damaged pages does not start, and keeps its documents', async () => {
  const server = await TestServer.start()
  const home = await server.stop()
  overwritePages(server.paths.database, 10)
  const error = await TestServer.start({ home }).catch((thrown: Error) => thrown)
  assert.match((error as Error).message, `${server.paths.database} is damaged`)
  rmSync(home, { recursive: true })
})

test('pages that are damaged while the daemon runs fail requests with the reason, and health reports it', async () => {
  const server = await TestServer.start()
  const home = await server.stop()
  const running = await TestServer.start({ home })
  overwritePages(running.paths.database, 1)
  await expectError(running.post('/agents', { name: 'Helper' }), 'UNAVAILABLE', { error: /cadre\.db is damaged/, hint: /backup/ })
  const { status, body } = await running.get('/health')
  assert.equal([status, body.status, body.database], [503, 'unhealthy', 'disconnected'])
  await running.close()
})

test.run()
