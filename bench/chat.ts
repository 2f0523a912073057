/** The chat in tmux: what its start costs beside importing Ink, a flood of deltas, keys during it, and memory after a thousand messages. */
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
import { createEnvironment, ROOT, request, TOKEN, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'

const START_ROUNDS = 7
const DELTAS_PER_SECOND = 5_000
const FLOOD_SECONDS = 12
const MAX_FRAMES_PER_SECOND = 30
const KEY_COUNT = 20
const TURNS = 500
const MAX_MEMORY_GROWTH_BYTES = 50e6
/** Kernel ticks of /proc/PID/stat. */
const TICKS_PER_SECOND = 100

export const chat: Benchmark = {
  name: 'chat',
  async run() {
    if (!hasTmux) throw new Error('The chat is measured in tmux, and there is none here.')
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
          return [await measureStart(home), ...(await measureFlood(home, daemon)), await measureMemoryGrowth(home)]
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

/** The process of the chat in that home. */
function findChatProcess(home: string): number {
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isChatProcess(Number(name), home))
  if (found.length !== 1) throw new Error(`There are ${found.length} chats in ${home}.`)
  return Number(found[0])
}

function isChatProcess(pid: number, home: string): boolean {
  try {
    const [command, variables] = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0'))
    return command?.[1]?.endsWith('/cadre') === true && command[2] === 'chat' && variables?.includes(`CADRE_HOME=${home}`) === true
  } catch {
    return false // it ended, or it is another user's
  }
}

/** User and system time of a process so far, in seconds. */
function readCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
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
    const alone = measureInkImport(home)
    if (round === 0) continue // it only warmed the disk cache
    prompts.push(cost * 1000)
    imports.push(alone)
  }
  const [prompt, alone] = [median(prompts), median(imports)]
  return {
    name: 'cadre chat to its prompt, CPU, to importing Ink',
    figure: `${formatMilliseconds(prompt)} to ${formatMilliseconds(alone)}`,
    ratio: prompt / alone,
    bar: { most: 3 },
  }
}

/** CPU of a Node that imports Ink from its package and does nothing else. */
function measureInkImport(home: string): number {
  const code = "await import('ink'); const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)"
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    env: createEnvironment(home),
    encoding: 'utf8',
  })
  if (!(Number(stdout) > 0)) throw new Error(`Ink could not be imported: ${stderr}`)
  return Number(stdout)
}

/** A flood from its first to its last delta. However busy the machine is, the CPU it takes is held against the time it should last. */
async function measureFlood(home: string, daemon: DaemonProcess): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-bench-'))
  const terminal = openChat(home)
  try {
    await terminal.waitFor(/Ask Bench/)
    const idle = await measureKeyLatency(terminal, KEY_COUNT)
    const pid = findChatProcess(home)
    const recorded = join(folder, 'bytes')
    terminal.record(recorded)
    const [began, chatBefore, daemonBefore] = [performance.now(), readCpuSeconds(pid), readCpuSeconds(daemon.child.pid as number)]
    terminal.write(`flood ${DELTAS_PER_SECOND} ${FLOOD_SECONDS}\r`)
    await terminal.waitFor(/twenty-five/)
    const busy = await measureKeyLatency(terminal, KEY_COUNT)
    const during = performance.now() - began < FLOOD_SECONDS * 1000
    await terminal.waitFor(/tokens/)
    const seconds = (performance.now() - began) / 1000
    const [ours, theirs] = [readCpuSeconds(pid) - chatBefore, readCpuSeconds(daemon.child.pid as number) - daemonBefore]
    const drawn = readFileSync(recorded, 'utf8').split(END_UPDATE).length - 1
    return [
      {
        name: `${DELTAS_PER_SECOND} deltas a second for ${FLOOD_SECONDS} s, CPU of chat and daemon, to one core`,
        figure: `${ours.toFixed(1)} and ${theirs.toFixed(1)} s in ${seconds.toFixed(1)} s`,
        ratio: (ours + theirs) / FLOOD_SECONDS,
        bar: { most: 1 },
      },
      {
        name: 'drawn a second, to thirty',
        figure: `${(drawn / seconds).toFixed(1)} a second`,
        ratio: drawn / seconds / MAX_FRAMES_PER_SECOND,
        bar: { most: 1.05 },
      },
      {
        name: `a key to its place on the screen, ${during ? 'flooded' : 'flooded at first'} to idle`,
        figure: `${formatMilliseconds(busy)} to ${formatMilliseconds(idle)}`,
        ratio: busy / idle,
      },
    ]
  } finally {
    terminal.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Median time from a key to the screen that shows it, as seen through tmux. */
async function measureKeyLatency(terminal: TmuxTerminal, count: number): Promise<number> {
  const taken: number[] = []
  let typed = ''
  for (let key = 0; key < count; key++) {
    typed += 'abcdefghij'[key % 10]
    const began = performance.now()
    terminal.write(typed.slice(-1))
    while (!terminal.read().includes(`› ${typed}`)) await pause(2)
    taken.push(performance.now() - began)
  }
  terminal.write('\u0015')
  await terminal.waitFor((screen) => !screen.includes(`› ${typed}`))
  return median(taken)
}

async function measureMemoryGrowth(home: string): Promise<Figure> {
  const terminal = openChat(home)
  try {
    await terminal.waitFor(/Ask Bench/)
    const pid = findChatProcess(home)
    const exchange = async (number: number) => {
      terminal.write(`question ${number}`)
      // The reply before may be written and not have ended.
      do terminal.write('\r')
      while (!(await terminal.waitFor(/› Ask Bench|Esc stops it/)).includes('Ask Bench'))
      await terminal.waitFor(new RegExp(`This answers question ${number}\\.`))
    }
    for (let number = 1; number <= 10; number++) await exchange(number)
    const before = readResidentBytes(pid)
    for (let number = 11; number <= TURNS; number++) await exchange(number)
    const grown = readResidentBytes(pid) - before
    return {
      name: `memory after ${2 * TURNS} messages, to 50 MB`,
      figure: `${(before / 1e6).toFixed(0)} MB and ${(grown / 1e6).toFixed(1)} MB more`,
      ratio: grown / MAX_MEMORY_GROWTH_BYTES,
      bar: { most: 1 },
    }
  } finally {
    terminal.close()
  }
}
