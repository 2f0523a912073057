import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ConnectedClient } from '../../daemon/mcp-servers/connections/connect-client.ts'
import { ServerConnections } from '../../daemon/mcp-servers/connections/server-connections.ts'
import type { StoredMcpServer } from '../../daemon/mcp-servers/store.ts'
import type { Json } from '../harness/test-server.ts'

const test = suite('connections to MCP servers')
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const server = { id: 'mcp_1', name: 'files', version: 1, url: null, timeout_ms: 1_000 } as StoredMcpServer

/** A client that answers every call, until its connection ends. */
function createClient(): { connected: ConnectedClient; end(problem: string): void } {
  let problem: string | undefined
  const client: Json = { callTool: async () => 'answer', close: async () => client.onclose?.() }
  const end = (reason: string) => {
    problem = reason
    client.onclose()
  }
  return { connected: { client, getProblem: () => problem }, end }
}
const getError = (work: Promise<unknown>) => work.then(String, (error: Error) => error.message)

test('a server that fails at every start is started after increasing delays, up to a minute', async () => {
  let now = 0
  let starts = 0
  const connections = new ServerConnections({
    logger,
    now: () => now,
    connect: async () => {
      starts++
      throw Object.assign(new Error('no'), { problem: 'exited with code 1' })
    },
  })
  const call = () => getError(connections.call(server, 'a', {}, undefined))
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    assert.is(await call(), 'The MCP server "files" exited with code 1.')
    assert.is(await call(), `The MCP server "files" exited with code 1. It can be started again in ${seconds} s.`)
    now += seconds * 1_000
  }
  assert.is(starts, 8)
  await call()
  assert.is(await getError(connections.list(server, true)), 'The MCP server "files" exited with code 1.')
  assert.is(starts, 10)
  await connections.close()
})

test('a list of tools is used for ten seconds, until the server reports a change or is connected again', async () => {
  let now = 0
  let lists = 0
  const changes: (() => void)[] = []
  const ends: ((problem: string) => void)[] = []
  const connections = new ServerConnections({
    logger,
    now: () => now,
    connect: async (_, { onToolsChanged }) => {
      const { connected, end } = createClient()
      Object.assign(connected.client, {
        getServerVersion: () => ({ name: 'files', version: '1' }),
        getNegotiatedProtocolVersion: () => '2025-06-18',
        getServerCapabilities: () => ({ tools: {} }),
        listTools: async () => {
          lists++
          return { tools: [] }
        },
      })
      changes.push(onToolsChanged)
      ends.push(end)
      return connected
    },
  })
  const expectLists = async (count: number) => {
    await connections.list(server)
    assert.is(lists, count)
  }
  await expectLists(1)
  now += 10_000
  await expectLists(1)
  now += 1
  await expectLists(2)
  changes.at(-1)?.()
  await expectLists(3)
  ends.at(-1)?.('was ended by SIGKILL')
  now += 2_000
  await expectLists(4)
  await connections.close()
})

test('a server that ran for a minute starts again with the first delay, and a changed one at once', async () => {
  let now = 0
  const ends: ((problem: string) => void)[] = []
  const connections = new ServerConnections({
    logger,
    now: () => now,
    connect: async () => {
      const { connected, end } = createClient()
      ends.push(end)
      return connected
    },
  })
  const call = (version = 1) => getError(connections.call({ ...server, version }, 'a', {}, undefined))
  for (const [uptime, seconds] of [
    [10, 1],
    [10, 2],
    [61_000, 1],
  ] as const) {
    assert.is(await call(), 'answer')
    now += uptime
    ends.at(-1)?.('was ended by SIGKILL')
    assert.is(await call(), `The MCP server "files" was ended by SIGKILL. It can be started again in ${seconds} s.`)
    now += seconds * 1_000
  }
  assert.is(await call(), 'answer')
  ends.at(-1)?.('was ended by SIGKILL')
  assert.is(await call(2), 'answer')
  assert.is(ends.length, 5)
  await connections.close()
  assert.is(await call(2), 'The daemon is stopping.')
})

test('concurrent calls of a changed server start it once', async () => {
  const started: number[] = []
  const connections = new ServerConnections({
    logger,
    connect: async ({ version }) => {
      started.push(version)
      return createClient().connected
    },
  })
  const call = (version: number) => getError(connections.call({ ...server, version }, 'a', {}, undefined))
  assert.is(await call(1), 'answer')
  assert.equal(await Promise.all([call(2), call(2), call(2)]), ['answer', 'answer', 'answer'])
  assert.equal(started, [1, 2])
  await connections.close()
})

test.run()
