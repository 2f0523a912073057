import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { TestServer } from '../harness/test-server.ts'
import { runCampaign, startServer } from './campaign.ts'

const SEED = 20260131
const REQUESTS = 4_000

const test = suite('fuzz')
let server: TestServer

test.before(
  reportFailure(async () => {
    server = await startServer()
  }),
)
test.after(reportFailure(() => server.close()))

test(`all responses to ${REQUESTS} generated requests match the OpenAPI document`, async () => {
  const summary = await runCampaign(server, SEED, REQUESTS)
  console.log(JSON.stringify(summary))
  assert.is(summary.requests, REQUESTS)
  assert.is(summary.operations, ALL_ROUTES.length)
  const statuses = Object.keys(summary.statuses).map(Number)
  assert.equal(
    statuses.filter((status) => status >= 500),
    [],
  )
  // The generator must also create valid requests.
  for (const status of [200, 201, 400, 401, 403, 404, 405, 409, 415])
    assert.ok((summary.statuses[status] ?? 0) > 5, `${status} came ${summary.statuses[status] ?? 0} times`)
  assert.ok(summary.succeeded > 60, `only ${summary.succeeded} operations succeeded`)
})

test('the daemon is healthy afterwards and has logged no errors', async () => {
  assert.equal((await server.get('/health', { as: null })).body.status, 'healthy')
  assert.is((await server.get('/status')).status, 200)
  assert.equal(
    server.log.split('\n').filter((line) => line.includes('"level":"error"')),
    [],
  )
})

test.run()
