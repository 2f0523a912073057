import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import { aloud } from '../harness/hooks.ts'
import { TestServer } from '../harness/test-server.ts'
import { runCampaign } from './campaign.ts'

const SEED = 20260131
const REQUESTS = 10_000

const test = suite('fuzz')
let service: TestServer

test.before(
  aloud(async () => {
    service = await TestServer.start()
  }),
)
test.after(aloud(() => service.close()))

test(`of ${REQUESTS} generated requests none gets an answer that is not described, and those that are right are answered right`, async () => {
  const begun = performance.now()
  const summary = await runCampaign(service, SEED, REQUESTS)
  console.log(`${JSON.stringify(summary)} in ${Math.round((performance.now() - begun) / 1000)} s`)
  assert.is(summary.requests, REQUESTS)
  assert.is(summary.operations, ALL_ROUTES.length)
  const statuses = Object.keys(summary.statuses).map(Number)
  assert.equal(
    statuses.filter((status) => status >= 500),
    [],
  )
  // A generator that is only ever refused would prove nothing.
  for (const status of [200, 201, 400, 401, 403, 404, 405, 409, 415])
    assert.ok((summary.statuses[status] ?? 0) > 5, `${status} came ${summary.statuses[status] ?? 0} times`)
  assert.ok(summary.succeeded > 60, `only ${summary.succeeded} operations succeeded`)
})

test('it is well afterwards, and its log holds no error', async () => {
  assert.equal((await service.get('/health', { as: null })).body.status, 'healthy')
  assert.is((await service.get('/status')).status, 200)
  assert.equal(
    service.log.split('\n').filter((line) => line.includes('"level":"error"')),
    [],
  )
})

test.run()
