import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, runLater } from '../../../daemon/store/database.ts'
import { migrate } from '../../../daemon/store/migrate.ts'
import { retryWrite } from '../../../daemon/store/remote/retry-write.ts'
import { openServerDatabase } from '../../../daemon/store/remote/server-database.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { isSqldInstalled, Sqld } from '../../harness/sqld/start-sqld.ts'
import { BreakableProxy } from './breakable-proxy.ts'

const test = suite('records on a libSQL server')
const check = isSqldInstalled() ? test : test.skip

let sqld: Sqld
const opened: Database[] = []

/** Like another daemon. */
async function connect(url = sqld.url): Promise<Database> {
  const database = await openServerDatabase({ url, token: undefined })
  opened.push(database)
  return database
}

const readNames = async (database: Database) =>
  (await database.all<{ name: string }>('SELECT name FROM items ORDER BY name')).map(({ name }) => name)
const insert = (database: Database, name: string) =>
  database.write((transaction) => transaction.run('INSERT INTO items (name) VALUES (?)', [name]))
async function fail(promise: Promise<unknown>): Promise<CadreError> {
  try {
    await promise
  } catch (error) {
    return error as CadreError
  }
  throw new Error('it must fail')
}

if (isSqldInstalled()) {
  test.before(async () => {
    sqld = await Sqld.start()
    await (await connect()).write((transaction) => transaction.run('CREATE TABLE items (name TEXT PRIMARY KEY, number INTEGER)'))
  })
  test.after.each(async () => {
    for (const database of opened.splice(0)) await database.close()
    await (await connect()).write((transaction) => transaction.run('DELETE FROM items'))
  })
  test.after(async () => {
    for (const database of opened) await database.close()
    sqld.remove()
  })
}

check('statements without a result are sent in parts, and undone together', async () => {
  const database = await connect()
  const insertAll = (count: number, last: string) =>
    database.write(async (transaction) => {
      const sql = 'INSERT INTO items (name) VALUES (?)'
      for (let number = 0; number < count; number++) await runLater(transaction, sql, [`n${number}`])
      await runLater(transaction, sql, [last])
    })
  await fail(insertAll(1_200, 'n7'))
  assert.equal(await readNames(database), [])
  await insertAll(1_200, 'last')
  assert.is((await readNames(database)).length, 1_201)
})

check('a failed write undoes its own changes, and those that share its commit are stored', async () => {
  const database = await connect()
  const [first, second, third] = await Promise.allSettled([
    insert(database, 'a'),
    database.write(async (transaction) => {
      await transaction.run("INSERT INTO items (name) VALUES ('b')")
      throw new Error('refused')
    }),
    insert(database, 'c'),
  ])
  assert.equal([first.status, second.status, third.status], ['fulfilled', 'rejected', 'fulfilled'])
  assert.match(String((await fail(insert(database, 'a'))).message), 'UNIQUE constraint failed')
  assert.equal(await readNames(database), ['a', 'c'])
})

check('numbers keep their type, over WebSocket and HTTP', async () => {
  for (const url of [sqld.url, sqld.url.replace('ws:', 'http:')]) {
    const row = await (await connect(url)).get('SELECT typeof(?) AS integer, typeof(?) AS real, ? AS text, ? AS missing', [
      3,
      0.5,
      'ä',
      null,
    ])
    assert.equal(row, { integer: 'integer', real: 'real', text: 'ä', missing: null })
  }
})

check('what one daemon commits, another reads at once, and no update is lost', async () => {
  const [a, b] = [await connect(), await connect()]
  await insert(a, 'n')
  assert.equal(await b.get('SELECT name FROM items'), { name: 'n' })
  const increment = (database: Database) =>
    database.write(async (transaction) => {
      const row = await transaction.get<{ number: number | null }>("SELECT number FROM items WHERE name = 'n'")
      await transaction.run("UPDATE items SET number = ? WHERE name = 'n'", [(row?.number ?? 0) + 1])
    })
  await Promise.all(Array.from({ length: 10 }, () => [increment(a), increment(b)]).flat())
  for (const database of [a, b]) assert.equal(await database.get('SELECT number FROM items'), { number: 20 })
})

check('daemons that start at the same time apply each migration once', async () => {
  const calls: string[] = []
  const migrations = ['9001-a', '9002-b'].map((name) => ({
    name,
    async up(transaction: Parameters<Parameters<Database['write']>[0]>[0]) {
      calls.push(name)
      await transaction.run(`CREATE TABLE "${name}" (id TEXT)`)
    },
  }))
  const daemons = [await connect(), await connect(), await connect()]
  await Promise.all(daemons.map((database) => migrate(database, migrations)))
  assert.equal(calls, ['9001-a', '9002-b'])
  await daemons[0]?.write(async (transaction) => {
    for (const table of ['9001-a', '9002-b', 'migrations']) await transaction.run(`DROP TABLE "${table}"`)
  })
})

check('a commit whose response is lost counts as stored, and one that did not arrive as failed', async () => {
  const proxy = await BreakableProxy.start(sqld.port)
  const database = await connect(proxy.url)
  proxy.breakAt = 'response'
  await insert(database, 'stored')
  proxy.breakAt = 'request'
  const error = await fail(insert(database, 'lost'))
  assert.is(error.code, 'UNAVAILABLE')
  assert.is(proxy.broken, 2)
  assert.equal(await readNames(database), ['stored'])
  await insert(database, 'next')
  assert.equal(await readNames(database), ['next', 'stored'])
  proxy.close()
})

check('an address without a server is explained', async () => {
  for (const scheme of ['ws', 'http']) {
    const error = await fail(openServerDatabase({ url: `${scheme}://127.0.0.1:9`, token: undefined }))
    assert.instance(error, CadreError)
    assert.match(error.message, `The database at ${scheme}://127.0.0.1:9 cannot be reached`)
  }
})

check('after a restart of the server the daemon continues, and a repeated write arrives', async () => {
  const database = await connect()
  await insert(database, 'before')
  await sqld.kill()
  const error = await fail(database.all('SELECT 1'))
  assert.equal([error.code, error.retryAfterSeconds], ['UNAVAILABLE', 1])
  assert.is((await fail(insert(database, 'during'))).code, 'UNAVAILABLE')
  const repeated = retryWrite(database, (transaction) => transaction.run("INSERT INTO items (name) VALUES ('repeated')"))
  await sqld.startAgain()
  await repeated
  assert.equal(await readNames(database), ['before', 'repeated'])
})

test.run()
