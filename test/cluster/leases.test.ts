import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ServerCluster } from '../../daemon/cluster/server-cluster.ts'
import type { Database } from '../../daemon/store/database.ts'
import { migrate } from '../../daemon/store/migrate.ts'
import { openServerDatabase } from '../../daemon/store/remote/server-database.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { isSqldInstalled, Sqld } from '../harness/sqld/start-sqld.ts'

const test = suite('leases')
const check = isSqldInstalled() ? test : test.skip

const logger = { warn() {} }
let sqld: Sqld
let databases: [Database, Database]
let clusters: [ServerCluster, ServerCluster]

if (isSqldInstalled()) {
  test.before(async () => {
    sqld = await Sqld.start()
    const open = () => openServerDatabase({ url: sqld.url, token: undefined })
    databases = [await open(), await open()]
    await migrate(databases[0])
    const join = (database: Database) => ServerCluster.open(database, database.daemonId as string, logger)
    clusters = [await join(databases[0]), await join(databases[1])]
  })
  test.after(async () => {
    for (const cluster of clusters) await cluster.close()
    for (const database of databases) await database.close()
    sqld.remove()
  })
}

/** As if the daemon had been suspended, until it renews its leases. */
const expire = ({ daemonId }: Database) =>
  databases[1].write((transaction) => transaction.run('UPDATE daemons SET alive_until = 0 WHERE id = ?', [daemonId]))
const holds = (daemon: 0 | 1, name: string, fence: number) =>
  databases[daemon].write((transaction) => clusters[daemon].leases.holds(transaction, name, fence))

check('one daemon at a time holds a lease, and its fence rises with each holder', async () => {
  const [a, b] = [clusters[0].leases, clusters[1].leases]
  assert.equal([await a.claim('one'), await b.claim('one'), await a.claim('one')], [1, undefined, 1])
  await b.release('one') // not its own
  assert.is(await b.claim('one'), undefined)
  assert.equal([a.term, await holds(0, 'one', 1)], [1, true])
  await expire(databases[0])
  assert.equal([await b.claim('one'), await a.claim('one')], [2, undefined])
  assert.equal([await holds(0, 'one', 1), await holds(1, 'one', 2)], [false, true])
})

check('a daemon claims only the leases of a query that no other daemon holds', async () => {
  const query = "SELECT 'list/' || value AS name FROM json_each('[1, 2, 3]')"
  await clusters[1].leases.claim('list/2')
  assert.equal((await clusters[1].leases.claimAbandoned(query)).sort(), ['list/1', 'list/3'])
  assert.equal(await clusters[1].leases.claimAbandoned(query), [])
})

check('a daemon answers the requests of another, also with errors', async () => {
  const [a, b] = [clusters[0].requests, clusters[1].requests]
  await clusters[0].leases.beat()
  const receiver = databases[0].daemonId as string
  a.handle('double', async ({ target, data, sender }) => ({ text: target.repeat(data as number), sender }))
  a.handle('fail', async () => {
    throw new CadreError('NOT_FOUND', 'There is none.', { hint: 'Create one.' })
  })
  assert.equal(await b.send(receiver, 'double', 'ab', 2), { text: 'abab', sender: databases[1].daemonId })
  const error = await b.send(receiver, 'fail', 'x').catch((reason: unknown) => reason)
  assert.ok(error instanceof CadreError)
  assert.equal([error.code, error.message, error.hint], ['NOT_FOUND', 'There is none.', 'Create one.'])
  a.handle('wake', () => clusters[0].leases.beat())
  await expire(databases[0])
  assert.is(await b.send(receiver, 'wake', 'a daemon that was suspended'), null)
  const gone = await b.send('ended', 'double', 'x').catch((reason: unknown) => reason)
  assert.is((gone as CadreError).code, 'UNAVAILABLE')
})

test.run()
