/** The chat in tmux: CPU time of its start, of a flood of deltas and of keys, and memory after a thousand messages. */
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { END_UPDATE } from '../src/tui/render/buffered-stdout.ts'
import { openChatTerminal } from '../test/harness/chat-fixture.ts'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { hasTmux, type TmuxTerminal } from '../test/harness/tmux-terminal.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { readCpuSeconds } from './support/cpu-time.ts'
import { createEnvironment, ROOT, request, TOKEN, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'

const START_ROUNDS = 7
const DELTAS_PER_SECOND = 5_000
const FLOOD_SECONDS = 12
const MAX_FRAMES_PER_SECOND = 30
const KEY_COUNT = 20
const TURNS = 500
const TRANSCRIPT_LINES = 5_000
/** A question and the page of paced-provider.js take more. */
const LINES_PER_TURN = 20
/** So few that most keys need a frame of their own; the frames of a fast stream would draw them as well. */
const STREAM_RATE = 2
const STREAM_SECONDS = 120
const KEY_ROUNDS = 12
const KEYS_PER_ROUND = 20
const KEY_INTERVAL_MS = 75
const MAX_KEY_COST_MS = 16
const MAX_MEMORY_GROWTH_BYTES = 50e6

export const chat: Benchmark = {
  name: 'chat',
  async run() {
    if (!hasTmux) throw new Error('The chat benchmark requires tmux.')
    const provider = fork(fileURLToPath(new URL('support/paced-provider.js', import.meta.url)), { stdio: 'inherit' })
    const [port] = (await once(provider, 'message')) as [number]
    try {
      return await withHome((home) =>
        withDaemon(home, async (daemon) => {
          const model = {
            name: 'bench',
            provider: 'openai-compatible',
            model_id: 'bench',
            endpoint: `http://127.0.0.1:${port}/v1`,
            pricing: { input: 1, output: 1 },
          }
          const { data } = await request<{ data: { id: string } }>(daemon, 'POST', '/api/models', model)
          await request(daemon, 'POST', '/api/agents', { name: 'Bench', model_id: data.id })
          return [
            await measureStart(home),
            ...(await measureFlood(home, daemon)),
            await measureKeyCost(home),
            await measureMemoryGrowth(home),
          ]
        }),
      )
    } finally {
      provider.disconnect()
    }
  },
}

function openChat(home: string): TmuxTerminal {
  return openChatTerminal(home, { columns: 100, rows: 40, agent: 'Bench', arguments: ['--no-start'], environment: { CADRE_TOKEN: TOKEN } })
}

function findChatProcess(home: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isChatProcess(Number(name), home))
  if (pids.length !== 1) throw new Error(`Found ${pids.length} chat processes in ${home}, expected one.`)
  return Number(pids[0])
}

function isChatProcess(pid: number, home: string): boolean {
  try {
    const [command, variables] = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0'))
    return command?.[1]?.endsWith('/cadre') === true && command[2] === 'chat' && variables?.includes(`CADRE_HOME=${home}`) === true
  } catch {
    return false // the process ended or belongs to another user
  }
}

function readResidentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1000
}

async function measureStart(home: string): Promise<Figure> {
  const [prompts, imports]: [number[], number[]] = [[], []]
  for (let round = 0; round <= START_ROUNDS; round++) {
    const terminal = openChat(home)
    await terminal.waitFor(/Ask Bench/)
    const cost = readCpuSeconds(findChatProcess(home))
    terminal.close()
    const importMs = measureInkImport(home)
    if (round === 0) continue // warms the disk cache
    prompts.push(cost * 1000)
    imports.push(importMs)
  }
  const [prompt, alone] = [median(prompts), median(imports)]
  return {
    name: 'cadre chat until its prompt, CPU, relative to importing Ink',
    figure: `${formatMilliseconds(prompt)} to ${formatMilliseconds(alone)}`,
    ratio: prompt / alone,
    bar: { most: 3 },
  }
}

/** Returns the CPU time of a Node process that only imports Ink. */
function measureInkImport(home: string): number {
  const code = "await import('ink'); const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)"
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    env: createEnvironment(home),
    encoding: 'utf8',
  })
  if (!(Number(stdout) > 0)) throw new Error(`Importing Ink failed: ${stderr}`)
  return Number(stdout)
}

/** Measures CPU time from the first to the last delta, relative to the nominal duration, so that other load does not matter. */
async function measureFlood(home: string, daemon: DaemonProcess): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-bench-'))
  const terminal = openChat(home)
  try {
    await terminal.waitFor(/Ask Bench/)
    const idle = await measureKeyLatency(terminal, KEY_COUNT)
    const pid = findChatProcess(home)
    const recording = join(folder, 'output')
    terminal.record(recording)
    const [startedAt, chatBefore, daemonBefore] = [performance.now(), readCpuSeconds(pid), readCpuSeconds(daemon.child.pid as number)]
    terminal.write(`flood ${DELTAS_PER_SECOND} ${FLOOD_SECONDS}\r`)
    await terminal.waitFor(/twenty-five/)
    const busy = await measureKeyLatency(terminal, KEY_COUNT)
    const isFloodOngoing = performance.now() - startedAt < FLOOD_SECONDS * 1000
    await terminal.waitFor(/tokens/)
    const seconds = (performance.now() - startedAt) / 1000
    const [chatCpu, daemonCpu] = [readCpuSeconds(pid) - chatBefore, readCpuSeconds(daemon.child.pid as number) - daemonBefore]
    const frames = readFileSync(recording, 'utf8').split(END_UPDATE).length - 1
    return [
      {
        name: `${DELTAS_PER_SECOND} deltas per second for ${FLOOD_SECONDS} s, CPU of chat and daemon, relative to one core`,
        figure: `${chatCpu.toFixed(1)} and ${daemonCpu.toFixed(1)} s in ${seconds.toFixed(1)} s`,
        ratio: (chatCpu + daemonCpu) / FLOOD_SECONDS,
        bar: { most: 1 },
      },
      {
        name: 'frames per second, relative to thirty',
        figure: `${(frames / seconds).toFixed(1)} per second`,
        ratio: frames / seconds / MAX_FRAMES_PER_SECOND,
        bar: { most: 1.05 },
      },
      {
        name: `from key to screen, ${isFloodOngoing ? 'during the flood' : 'during and after the flood'}, relative to idle`,
        figure: `${formatMilliseconds(busy)} to ${formatMilliseconds(idle)}`,
        ratio: busy / idle,
      },
    ]
  } finally {
    terminal.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the median time from a key until tmux shows it. */
async function measureKeyLatency(terminal: TmuxTerminal, count: number): Promise<number> {
  const times: number[] = []
  let typed = ''
  for (let key = 0; key < count; key++) {
    typed += 'abcdefghij'[key % 10]
    const startedAt = performance.now()
    terminal.write(typed.slice(-1))
    await waitFor(() => terminal.read().includes(`› ${typed}`), { intervalMs: 2 })
    times.push(performance.now() - startedAt)
  }
  terminal.write('\u0015')
  await terminal.waitFor((screen) => !screen.includes(`› ${typed}`))
  return median(times)
}

async function sendQuestion(terminal: TmuxTerminal, number: number): Promise<void> {
  // Sent during a reply, it would be queued.
  await terminal.waitFor((screen) => !screen.includes('Esc to stop'))
  terminal.write(`question ${number}\r`)
  await terminal.waitFor(new RegExp(`This answers question ${number}\\.`))
}

/** Writes a transcript, then compares the CPU time of periods with and without keys during one reply. */
async function measureKeyCost(home: string): Promise<Figure> {
  const terminal = openChat(home)
  try {
    await terminal.waitFor(/Ask Bench/)
    const pid = findChatProcess(home)
    for (let number = 1; number <= TRANSCRIPT_LINES / LINES_PER_TURN; number++) await sendQuestion(terminal, number)
    await terminal.waitFor((screen) => !screen.includes('Esc to stop'))
    terminal.write(`flood ${STREAM_RATE} ${STREAM_SECONDS}\r`)
    await terminal.waitFor(/writing.*Esc to stop/)
    const measurePeriod = async (press: (key: number) => void) => {
      const [before, startedAt] = [readCpuSeconds(pid), performance.now()]
      for (let key = 1; key <= KEYS_PER_ROUND; key++) {
        press(key)
        await pause(startedAt + key * KEY_INTERVAL_MS - performance.now())
      }
      return readCpuSeconds(pid) - before
    }
    let [idle, typing] = [0, 0]
    for (let round = 0; round < KEY_ROUNDS; round++) {
      idle += await measurePeriod(() => {})
      typing += await measurePeriod((key) => terminal.write(key % 2 === 1 ? 'x' : '\u007f'))
    }
    if (!terminal.read().includes('Esc to stop')) throw new Error('The reply ended before the last key.')
    terminal.write('\u001b')
    await terminal.waitFor((screen) => !screen.includes('Esc to stop'))
    const cost = ((typing - idle) / (KEY_ROUNDS * KEYS_PER_ROUND)) * 1000
    return {
      name: `CPU per key with ${TRANSCRIPT_LINES} lines while a reply streams, relative to 16 ms`,
      figure: `${formatMilliseconds(cost)} (${typing.toFixed(2)} s with keys, ${idle.toFixed(2)} s without)`,
      ratio: cost / MAX_KEY_COST_MS,
      bar: { most: 1 },
    }
  } finally {
    terminal.close()
  }
}

async function measureMemoryGrowth(home: string): Promise<Figure> {
  const terminal = openChat(home)
  try {
    await terminal.waitFor(/Ask Bench/)
    const pid = findChatProcess(home)
    for (let number = 1; number <= 10; number++) await sendQuestion(terminal, number)
    const before = readResidentBytes(pid)
    for (let number = 11; number <= TURNS; number++) await sendQuestion(terminal, number)
    const growth = readResidentBytes(pid) - before
    return {
      name: `memory growth after ${2 * TURNS} messages, relative to 50 MB`,
      figure: `${(before / 1e6).toFixed(0)} MB, then ${(growth / 1e6).toFixed(1)} MB more`,
      ratio: growth / MAX_MEMORY_GROWTH_BYTES,
      bar: { most: 1 },
    }
  } finally {
    terminal.close()
  }
}
