import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openServerDatabase } from '../../../daemon/store/remote/server-database.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { isSqldInstalled, Sqld } from '../../harness/sqld/start-sqld.ts'
import { TestServer } from '../../harness/test-server.ts'

const test = suite('two daemons on one database')
const check = isSqldInstalled() ? test : test.skip

let sqld: Sqld
let daemons: [TestServer, TestServer]

if (isSqldInstalled()) {
  test.before(async () => {
    sqld = await Sqld.start()
    const databaseServer = { url: sqld.url, token: undefined }
    const start = () => TestServer.start({ databaseServer, rateLimit: 1_000_000 })
    // At the same time: migrations and the first token must not collide.
    daemons = await Promise.all([start(), start()])
  })
  test.after(async () => {
    for (const daemon of daemons) await daemon.close()
    sqld.remove()
  })
}

check('both share one admin token and see each change at once', async () => {
  const [a, b] = daemons
  assert.is((await a.get('/tokens')).body.pagination.total, 1)
  const { id } = await expectData(a.post('/agents', { name: 'Shared' }), 201)
  for (const name of ['First', 'Second']) {
    await expectData(a.patch(`/agents/${id}`, { name }), 200)
    assert.is((await b.get(`/agents/${id}`)).data.name, name)
  }
  await a.delete(`/agents/${id}`)
  await expectError(b.get(`/agents/${id}`), 'NOT_FOUND')
})

check('a token no longer works on any daemon when its deletion is acknowledged', async () => {
  const [a, b] = daemons
  const { id, token } = await expectData(a.post('/tokens', { name: 'short', role: 'viewer' }), 201)
  assert.is((await b.get('/agents', { as: token })).status, 200)
  await a.delete(`/tokens/${id}`)
  assert.is((await b.get('/agents', { as: token })).status, 401)
})

check('requests with the same Idempotency-Key have one effect, whichever daemon gets them', async () => {
  const send = (daemon: TestServer) => daemon.post('/agents', { name: 'Once' }, { headers: { 'idempotency-key': 'once' } })
  const responses = await Promise.all([...daemons, ...daemons].map(send))
  assert.is(new Set(responses.map(({ data }) => data.id)).size, 1)
  assert.is((await daemons[0].get('/agents?name=Once')).body.pagination.total, 1)
})

check('a start marks the replies of daemons that ended as interrupted, and no others', async () => {
  const databaseServer = { url: sqld.url, token: undefined }
  const database = await openServerDatabase(databaseServer)
  const countAfterStart = async () => {
    await (await TestServer.start({ databaseServer })).close()
    return (await database.all('SELECT 1 FROM replies_under_way')).length
  }
  await database.write((transaction) =>
    transaction.run(`INSERT INTO replies_under_way (message_id, conversation_id, owner, entry, estimated_input, said_before)
      SELECT 'msg_x', 'conv_x', id, NULL, 0, 0 FROM live_daemons LIMIT 1`),
  )
  assert.is(await countAfterStart(), 1)
  await database.write((transaction) => transaction.run("UPDATE replies_under_way SET owner = 'ended'"))
  assert.is(await countAfterStart(), 0)
  await database.close()
})

check('while the server is away, requests answer 503 with Retry-After, and afterwards they work again', async () => {
  const [a, b] = daemons
  await sqld.kill()
  for (const response of [await a.get('/agents'), await b.post('/agents', { name: 'Lost' })]) {
    assert.equal([response.status, response.headers['retry-after']], [503, '1'])
    assert.match(response.body.error, 'cannot be reached')
  }
  assert.equal((await a.get('/health')).body, { ...(await a.get('/health')).body, status: 'unhealthy', database: 'disconnected' })
  await sqld.startAgain()
  for (const daemon of daemons) assert.is((await daemon.get('/agents?name=Lost')).body.pagination.total, 0)
  assert.is((await a.get('/health')).status, 200)
})

test.run()
