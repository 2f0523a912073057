/** Clients that request large responses and streams and do not read them. */
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { TOKEN } from '../../test/harness/daemon.ts'
import { formatEvents } from '../../test/harness/provider-formats.ts'
import { ScriptedProvider, streamText } from '../../test/harness/scripted-provider.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
import { formatMegabytes, type RunningDaemon, readMemory, withDaemon } from '../support/daemon.ts'
import { flood } from '../support/flood.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'
import { formatSlowest, watchResponses } from '../support/watch-responses.ts'

const MAX_MEMORY_BYTES = 1024 * 1024 * 1024
/** The daemon disconnects clients that have read nothing for 20 seconds. */
const STALL_MS = 30_000
const CLOSE_TIMEOUT_MS = 30_000
/** Together more than the kernel accepts for a client that does not read. */
const MESSAGES = 15
const MESSAGE_LENGTH = 490_000

export const unreadResponses: Scenario = {
  name: 'unread-responses',
  promise: 'Clients that do not read are disconnected and do not exhaust memory.',
  runsAlone: true,
  run: (options) =>
    withDaemon(async (daemon) => {
      const provider = await ScriptedProvider.start('openai', streamText('ok'))
      const violations: string[] = []
      const sockets: Socket[] = []
      try {
        const [plain, streams] = [scaleAmount(200, options), scaleAmount(50, options)]
        const { large, conversations } = await createTargets(daemon, provider, streams)
        const [, event = ''] = formatEvents('openai', { text: ['word '.repeat(200)], finish: null })
        provider.script = [flood(event)]
        // The limit of unread bytes is per token.
        const others = watchResponses(daemon.url, await createToken(daemon, 'others'))
        const streamer = await createToken(daemon, 'streamer')
        for (let count = 0; count < plain; count++) {
          sockets.push(requestWithoutReading(daemon, TOKEN, 'GET', large))
          await pause(10)
        }
        for (const path of conversations)
          sockets.push(requestWithoutReading(daemon, streamer, 'POST', path, { message: 'Go on', stream: true }))
        const memory = await pause(STALL_MS).then(() => readMemory(daemon.child.pid, 'VmHWM'))
        // A closed connection is noticed only by reading what is left of it.
        for (const socket of sockets) socket.resume()
        await waitFor(() => sockets.every(({ closed }) => closed), { timeoutMs: CLOSE_TIMEOUT_MS }).catch(() => undefined)
        const open = sockets.filter(({ closed }) => !closed).length
        if (open > 0) violations.push(`${open} connections are still open`)
        const complete = sockets.filter(({ bytesRead }) => bytesRead > 2 * MESSAGES * MESSAGE_LENGTH).length
        if (complete > 0) violations.push(`${complete} responses were kept until they were read`)
        const times = await others.stop()
        violations.push(...times.failures)
        if (memory > MAX_MEMORY_BYTES) violations.push(`the daemon used ${formatMegabytes(memory)}`)
        const closed = `${sockets.length - open} of ${sockets.length} closed`
        const figure = `${closed}; peak memory ${formatMegabytes(memory)}; ${formatSlowest(times)}`
        return { amount: `${plain} unread responses, ${streams} unread streams`, figure, violations }
      } finally {
        for (const socket of sockets) socket.destroy()
        await provider.close()
      }
    }),
}

async function createToken({ client }: RunningDaemon, name: string): Promise<string> {
  return (await client.create('/tokens', { name, role: 'admin' })).token
}

/** Creates a conversation of many megabytes, and a conversation for each stream. */
async function createTargets({ client }: RunningDaemon, provider: ScriptedProvider, streams: number) {
  const model = await client.create('/models', { name: 'scripted', ...provider.model })
  const agent = await client.create('/agents', { name: 'talker', model_id: model.id })
  const { id } = await client.create('/conversations', { agent_id: agent.id })
  for (let count = 0; count < MESSAGES; count++)
    await client.create(`/conversations/${id}/messages`, { message: 'ü'.repeat(MESSAGE_LENGTH) })
  const conversations: string[] = []
  for (let count = 0; count < streams; count++)
    conversations.push(`/conversations/${(await client.create('/conversations', { agent_id: agent.id })).id}/messages`)
  return { large: `/conversations/${id}`, conversations }
}

function requestWithoutReading({ url }: RunningDaemon, token: string, method: string, path: string, body?: object): Socket {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => {}) // the daemon closes the connection
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = [
    `${method} /api${path} HTTP/1.1`,
    `host: ${host}`,
    `authorization: Bearer ${token}`,
    'connection: close',
    ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]),
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`)
  return socket
}
