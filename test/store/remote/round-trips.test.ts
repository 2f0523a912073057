import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ServerConnection } from '../../../daemon/store/remote/server-connection.ts'
import { Resources } from '../../harness/resources.ts'
import { isSqldInstalled, Sqld } from '../../harness/sqld/start-sqld.ts'
import { type TestResponse, TestServer } from '../../harness/test-server.ts'

const test = suite('round trips to a libSQL server')
const check = isSqldInstalled() ? test : test.skip

/** Counts the requests to the database server. Both methods wait for one response. */
const counted = { total: 0 }
for (const name of ['read', 'send'] as const) {
  const original = ServerConnection.prototype[name] as (...parameters: unknown[]) => unknown
  ServerConnection.prototype[name] = function count(this: ServerConnection, ...parameters: unknown[]) {
    // Each daemon looks for requests of others all the time.
    if (!String(parameters[0]).includes('daemon_requests')) counted.total++
    return original.apply(this, parameters)
  } as never
}

/** With a token that was used within the last second. Background work is counted too, so the fewest of three calls count. */
async function countRoundTrips(server: TestServer, request: (turn: number) => Promise<TestResponse>): Promise<number> {
  const counts: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    await server.get('/settings')
    const before = counted.total
    const { status, text } = await request(turn)
    assert.ok(status < 300, text)
    counts.push(counted.total - before)
  }
  return Math.min(...counts)
}

check('common requests need few round trips', async () => {
  const sqld = await Sqld.start()
  const server = await TestServer.start({ databaseServer: { url: sqld.url, token: undefined } })
  try {
    const resources = new Resources(server)
    const agent = await resources.agent({ name: 'Ada' })
    const removable = [await resources.agent(), await resources.agent(), await resources.agent()]
    const { data: conversation } = await server.post('/conversations', { agent_id: agent.id })
    const send = () => server.post(`/conversations/${conversation.id}/messages`, { message: 'Hello' })
    const requests: Record<string, (turn: number) => Promise<TestResponse>> = {
      'GET /agents/{id}': () => server.get(`/agents/${agent.id}`),
      'GET /agents': () => server.get('/agents'),
      'POST /agents': (turn) => server.post('/agents', { name: `New ${turn}` }),
      'PATCH /agents/{id}': (turn) => server.patch(`/agents/${agent.id}`, { description: `Version ${turn}` }),
      'DELETE /agents/{id}': (turn) => server.delete(`/agents/${removable[turn]?.id}`),
      'POST /conversations': () => server.post('/conversations', { agent_id: agent.id }),
      'GET /conversations': () => server.get('/conversations'),
      'GET /conversations/{id}': () => server.get(`/conversations/${conversation.id}`),
      'POST /conversations/{id}/messages': send,
      'GET /conversations/{id}/messages': () => server.get(`/conversations/${conversation.id}/messages`),
    }
    const counts: Record<string, number> = {}
    for (const [name, request] of Object.entries(requests)) counts[name] = await countRoundTrips(server, request)
    const over = Object.entries(counts).filter(([name, count]) => count > (MOST[name] ?? 0))
    assert.equal(over, [], JSON.stringify(counts))
  } finally {
    await server.close()
    sqld.remove()
  }
})

/** A higher count makes every request of this kind slower. Lower the limit when a count falls. */
const MOST: Record<string, number> = {
  'GET /agents/{id}': 1,
  'GET /agents': 2,
  'POST /agents': 1,
  'PATCH /agents/{id}': 3,
  'DELETE /agents/{id}': 5,
  'POST /conversations': 3,
  'GET /conversations': 2,
  'GET /conversations/{id}': 2,
  'POST /conversations/{id}/messages': 16,
  'GET /conversations/{id}/messages': 3,
}

test.run()
