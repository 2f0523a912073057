/** MCP servers that flood, hang, or leave processes behind. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { isProcessAlive } from '../../../src/client/address.ts'
import type { Json } from '../../../test/harness/test-server.ts'
import { type RunningDaemon, withDaemon } from '../../support/daemon.ts'
import type { Scenario } from '../../support/scenario.ts'
import { formatSlowest, watchResponses } from '../../support/watch-responses.ts'

const SCRIPT = fileURLToPath(new URL('../../../test/mcp-tools/servers/hostile.mjs', import.meta.url))
/** Behaviours of the server that prevent it from listing its tools. */
const MODES = ['silent', 'endless', 'flood', 'errors', 'memory', 'pages', 'deep', 'huge', 'invalid', 'exit']
/** Tools that misbehave when they are called. */
const TOOLS = ['silent', 'endless', 'crash', 'many_keys', 'many_blocks', 'invalid_blocks']
/** Tools that leave a process behind: one that keeps the output open, one that left the process group. */
const FORKS = ['fork', 'detach']
/** Others may wait for a response, but not for seconds. */
const MAX_WAIT_MS = 2_000

export const mcpServers: Scenario = {
  name: 'mcp-servers',
  promise: 'An MCP server that floods, hangs or leaves processes behind harms only its own calls.',
  runsAlone: true,
  run: () =>
    withDaemon(async (daemon) => {
      const violations: string[] = []
      const others = watchResponses(daemon.url)
      for (const mode of MODES) {
        const { id } = await addServer(daemon, mode)
        const { status } = await daemon.client.post(`/mcp-servers/${id}/discover`, {})
        if (status < 400) violations.push(`a server that is ${mode} was accepted with ${status}`)
      }
      for (const name of TOOLS) {
        const tool = await addTool(daemon, await addServer(daemon, 'good'), name)
        const { status, text } = await daemon.client.post(`/mcp-tools/${tool}/test`, { arguments: {} })
        if (status < 400) violations.push(`the tool ${name} returned ${status}: ${text.slice(0, 200)}`)
      }
      violations.push(...(await answerBetweenLines(daemon)))
      for (const name of FORKS) violations.push(...(await leaveProcess(daemon, name)))
      const times = await others.stop()
      violations.push(...times.failures)
      if (times.slowestMs > MAX_WAIT_MS) violations.push(`another client waited for ${Math.round(times.slowestMs)} ms`)
      return {
        amount: `${MODES.length + TOOLS.length + FORKS.length + 1} misbehaving servers and tools`,
        figure: formatSlowest(times),
        violations,
      }
    }),
}

let count = 0
const addServer = ({ client }: RunningDaemon, mode: string): Promise<Json> =>
  client.create('/mcp-servers', {
    name: `s${++count}`,
    command: process.execPath,
    args: [SCRIPT, mode],
    timeout_ms: 5_000,
    memory_mb: 256,
  })

async function addTool({ client }: RunningDaemon, server: Json, name: string): Promise<string> {
  const { tools } = await client.create(`/mcp-servers/${server.id}/discover`, {})
  const { tool, offered } = tools.find((found: Json) => found.tool === name)
  return (await client.create('/mcp-tools', { mcp_server_id: server.id, tool, ...offered })).id
}

/** Empty lines end a message in a stream of events, but not in JSON, whatever the parameters of its type contain. */
async function answerBetweenLines({ client }: RunningDaemon): Promise<string[]> {
  const body = `[${`${'1,'.repeat(20_000)}\n\n`.repeat(4)}1]`
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json; a="text/event-stream"' }).end(body),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const { id } = await client.create('/mcp-servers', { name: `s${++count}`, url, allow_private_network: true })
  const { status, text } = await client.post(`/mcp-servers/${id}/discover`, {})
  server.closeAllConnections()
  server.close()
  return text.includes('more than 30000 values') ? [] : [`JSON of 80,000 values returned ${status}: ${text.slice(0, 200)}`]
}

/** A process that keeps the output of its server open must not outlive a change of the server. */
async function leaveProcess(daemon: RunningDaemon, name: string): Promise<string[]> {
  const server = await addServer(daemon, 'good')
  const tool = await addTool(daemon, server, name)
  const pid = Number((await daemon.client.create(`/mcp-tools/${tool}/test`, { arguments: {} })).result)
  const { status, text } = await daemon.client.call('PATCH', `/mcp-servers/${server.id}`, { timeout_ms: 6_000 })
  if (status !== 200) return [`a change of the server returned ${status}: ${text}`]
  return isProcessAlive(pid) ? [`the process of ${name} survived its server`] : []
}
