/** Commands whose service responds without end: they use little memory and end with an error. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { version } from '../../../src/version.ts'
import { linkCommand } from '../../../test/harness/cli.ts'
import { startRecordingServer } from '../../../test/outbound/recording-server.ts'
import { formatMegabytes, readMemory, withFolder } from '../../support/daemon.ts'
import type { Scenario } from '../../support/scenario.ts'

const MAX_MEMORY = 700 * 1024 ** 2
/** Commands give up after a minute of nothing, or of next to nothing, and after 45 s without a response with a factor of 0.05. */
const MAX_MS = 150_000
const MEGABYTE = 'x'.repeat(1024 ** 2)
const JSON_TYPE = { 'content-type': 'application/json' }
const HEALTH = { status: 'healthy', version, database: 'connected', vector_db: 'connected' }
const STREAM_TYPE = { 'content-type': 'text/event-stream' }

interface Attack {
  name: string
  respond(response: ServerResponse): unknown
  commands: readonly string[][]
  /** Whether only the request for a reply is attacked. */
  isStream?: boolean
  /** Whether the command waits most of the time, beside others. */
  isSlow?: boolean
  /** Of CADRE_TIMEOUT_FACTOR. */
  timeoutFactor?: number
}

async function writeWithoutEnd(response: ServerResponse, part: string): Promise<void> {
  const closed = once(response, 'close')
  while (!response.destroyed) if (!response.write(part)) await Promise.race([once(response, 'drain'), closed])
}

/** Before a response has begun, its socket is written to. */
function drip(target: ServerResponse | Socket, part: string): void {
  const timer = setInterval(() => target.write(part), 100)
  target.on('close', () => clearInterval(timer))
}

function dripBeforeResponse({ socket }: ServerResponse, part: string, start = ''): void {
  if (socket === null) return
  socket.write(start)
  drip(socket, part)
}

const ask = [['ask', 'A', 'hello']]
/** Every page is full, or every page is empty. */
const respondWithPage = (response: ServerResponse, count: number): unknown => {
  const data = Array.from({ length: count }, (_, index) => ({ id: `agt_${index}`, name: MEGABYTE.slice(0, 10_000) }))
  return response.writeHead(200, JSON_TYPE).end(JSON.stringify({ data, pagination: { page: 1, pages: 1e10, total: 1e12, limit: 100 } }))
}

const commands = [['agents', 'list'], ['status'], ...ask]
const lists = [
  ['agents', 'list', '--all'],
  ['api', '/agents', '--paginate'],
]
const ATTACKS: readonly Attack[] = [
  { name: 'a large body', respond: (response) => writeWithoutEnd(response.writeHead(200, JSON_TYPE), `"${MEGABYTE}`), commands },
  { name: 'a large error', respond: (response) => writeWithoutEnd(response.writeHead(500, JSON_TYPE), MEGABYTE), commands },
  {
    name: 'a large event',
    respond: (response) => writeWithoutEnd(response.writeHead(200, STREAM_TYPE), `data: ${MEGABYTE}`),
    commands: ask,
    isStream: true,
  },
  {
    name: 'a slow body',
    respond: (response) => drip(response.writeHead(200, JSON_TYPE), ' '),
    commands: [...commands, ['backup', 'backup.tar.gz']],
    isSlow: true,
  },
  { name: 'half a body', respond: (response) => response.writeHead(200, JSON_TYPE).write('{"data":['), commands, isSlow: true },
  {
    name: 'half an event',
    respond: (response) => response.writeHead(200, STREAM_TYPE).write('data: {'),
    commands: ask,
    isStream: true,
    isSlow: true,
  },
  {
    name: 'interim responses',
    respond: (response) => dripBeforeResponse(response, 'HTTP/1.1 102 Processing\r\n\r\n'),
    commands,
    isSlow: true,
    timeoutFactor: 0.05,
  },
  {
    name: 'a slow header',
    respond: (response) => dripBeforeResponse(response, 'a', 'HTTP/1.1 200 OK\r\nx: '),
    commands,
    isSlow: true,
    timeoutFactor: 0.05,
  },
  { name: 'full pages', respond: (response) => respondWithPage(response, 100), commands: lists },
  { name: 'empty pages', respond: (response) => respondWithPage(response, 0), commands: lists },
]

export const endlessResponses: Scenario = {
  name: 'endless-responses',
  promise: 'No response of a service makes a command wait without end or use more than 700 MB.',
  run: () =>
    withFolder(async (folder) => {
      const violations: string[] = []
      const command = linkCommand(join(folder, 'bin'))
      const peaks: number[] = []
      const attack = async ({ name, respond, isStream = false, commands, timeoutFactor = 1 }: Attack) => {
        const server = await startRecordingServer(listen(respond, isStream))
        for (const words of commands) {
          const { problem, peak } = await runLimited(command, words, server.origin, folder, timeoutFactor)
          peaks.push(peak)
          if (problem !== undefined) violations.push(`${name}: cadre ${words.join(' ')} ${problem}`)
          if (peak > MAX_MEMORY) violations.push(`${name}: cadre ${words.join(' ')} used ${formatMegabytes(peak)}`)
        }
        await server.close()
      }
      const slow = ATTACKS.filter(({ isSlow }) => isSlow).flatMap((one) =>
        one.commands.map((words) => attack({ ...one, commands: [words] })),
      )
      for (const one of ATTACKS.filter(({ isSlow }) => !isSlow)) await attack(one)
      await Promise.all(slow)
      return {
        amount: `${peaks.length} commands, ${ATTACKS.length} responses without an end`,
        figure: `peak memory of a command ${formatMegabytes(Math.max(...peaks))}`,
        violations,
      }
    }),
}

/** A service with one agent. Commands ask for its health first, and `ask` for the agent. */
const listen =
  (respond: Attack['respond'], isStream: boolean): RequestListener =>
  ({ method, url = '' }, response) => {
    const isAttacked = isStream ? url.endsWith('/messages') : !url.includes('/health')
    if (isAttacked) return void respond(response)
    const agent = { id: 'agt_1', name: 'A', model_id: null, tools: [] }
    const list = { data: [agent], pagination: { page: 1, pages: 1, total: 1, limit: 100 } }
    const conversation = { data: { id: 'cnv_1', agent_id: agent.id } }
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(url.includes('/health') ? HEALTH : method === 'GET' ? list : conversation))
  }

/** Runs a command, and kills it if it does not end. */
async function runLimited(
  command: string,
  words: readonly string[],
  url: string,
  home: string,
  timeoutFactor: number,
): Promise<{ problem?: string; peak: number }> {
  const child = spawn(process.execPath, [command, ...words], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      CADRE_HOME: join(home, 'state'),
      CADRE_KEYCHAIN: 'off',
      CADRE_URL: url,
      CADRE_TOKEN: 'cadre_attacked',
      CADRE_TIMEOUT_FACTOR: String(timeoutFactor),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  let peak = 0
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const watch = setInterval(() => {
    peak = Math.max(peak, readMemory(child.pid, 'VmHWM'))
  }, 50)
  const timer = setTimeout(() => child.kill('SIGKILL'), MAX_MS)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearInterval(watch)
  clearTimeout(timer)
  if (signal !== null) return { problem: 'did not end', peak }
  if (code === 0) return { problem: 'succeeded', peak }
  return /The response of|The connection was lost|the whole list|The list ended early/.test(stderr)
    ? { peak }
    : { problem: `printed: ${stderr}`, peak }
}
