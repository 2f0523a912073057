import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Database } from '../../../daemon/store/database.ts'
import { migrate } from '../../../daemon/store/migrations.ts'
import { openServerDatabase } from '../../../daemon/store/remote/server-database.ts'
import { openRequests } from '../../../daemon/store/shared/daemon-requests.ts'
import { claimLeases, holdsLease, type Leases, openLeases } from '../../../daemon/store/shared/leases.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { isSqldInstalled, Sqld } from '../../harness/sqld/start-sqld.ts'

const test = suite('leases')
const check = isSqldInstalled() ? test : test.skip

const logger = { warn() {} }
let sqld: Sqld
let databases: [Database, Database]
let leases: [Leases, Leases]

if (isSqldInstalled()) {
  test.before(async () => {
    sqld = await Sqld.start()
    const open = () => openServerDatabase({ url: sqld.url, token: undefined })
    databases = [await open(), await open()]
    await migrate(databases[0])
    leases = [await openLeases(databases[0], logger), await openLeases(databases[1], logger)]
  })
  test.after(async () => {
    for (const each of leases) await each.close()
    for (const database of databases) await database.close()
    sqld.remove()
  })
}

/** As if the daemon had been suspended, until it renews its leases. */
const expire = ({ daemonId = '' }: Database) =>
  databases[1].write((transaction) => transaction.run('UPDATE daemons SET alive_until = 0 WHERE id = ?', [daemonId]))
const holds = (database: Database, name: string, fence: number) => database.write((transaction) => holdsLease(transaction, name, fence))

check('one daemon at a time holds a lease, and its fence rises with each holder', async () => {
  const [a, b] = leases
  assert.equal([await a.claim('one'), await b.claim('one'), await a.claim('one')], [1, undefined, 1])
  await b.release('one') // not its own
  assert.is(await b.claim('one'), undefined)
  assert.equal([a.term, await holds(databases[0], 'one', 1)], [1, true])
  await expire(databases[0])
  assert.equal([await b.claim('one'), await a.claim('one')], [2, undefined])
  assert.equal([await holds(databases[0], 'one', 1), await holds(databases[1], 'one', 2)], [false, true])
})

check('a daemon claims only the leases of a query that no other daemon holds', async () => {
  const query = "SELECT 'list/' || value AS name FROM json_each('[1, 2, 3]')"
  await leases[1].claim('list/2')
  assert.equal((await claimLeases(databases[1], query)).sort(), ['list/1', 'list/3'])
  assert.equal(await claimLeases(databases[1], query), [])
})

check('a daemon answers the requests of another, also with errors', async () => {
  const requests = databases.map((database) => openRequests(database, logger) as NonNullable<ReturnType<typeof openRequests>>)
  const [a, b] = requests as [(typeof requests)[0], (typeof requests)[0]]
  await (leases[0] as unknown as { beat(): Promise<void> }).beat()
  const receiver = databases[0].daemonId as string
  a.handle('double', async ({ target, data, sender }) => ({ text: target.repeat(data as number), sender }))
  a.handle('fail', async () => {
    throw new CadreError('NOT_FOUND', 'There is none.', { hint: 'Create one.' })
  })
  assert.equal(await b.send(receiver, 'double', 'ab', 2), { text: 'abab', sender: databases[1].daemonId })
  const error = await b.send(receiver, 'fail', 'x').catch((reason: unknown) => reason)
  assert.ok(error instanceof CadreError)
  assert.equal([error.code, error.message, error.hint], ['NOT_FOUND', 'There is none.', 'Create one.'])
  const gone = await b.send('ended', 'double', 'x').catch((reason: unknown) => reason)
  assert.is((gone as CadreError).code, 'UNAVAILABLE')
  await Promise.all(requests.map((each) => each.close()))
})

test.run()
