/** 500 concurrent replies: correctness and memory; CPU and event loop delay, relative to Fastify with the AI SDK. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../test/harness/wait-for.ts'
import { withBareServer } from './support/bare-server.ts'
import { createAgent, createConversation, createExpectedText, streamReply, withProvider } from './support/conversation.ts'
import { ROOT, startDaemon, withHome } from './support/daemon.ts'
import type { Benchmark, Figure } from './support/figures.ts'

const ROUNDS = 3
const STREAMS = 500
const TOKENS = 100
/** The pace of hosted models. */
const TOKEN_INTERVAL_MS = 30
const MAX_MEMORY_BYTES = 150 * 1024 * 1024
/** About half of what the AI SDK takes. */
const MAX_CPU_RATIO = 0.75
/** Tokens that arrive together delay the event loop, here and there. */
const MAX_DELAY_RATIO = 1

interface LoopReport {
  p99: number
  max: number
  cpuMs: number
  rss: number
  peakRss: number
}

interface Run {
  wrong: number
  before: LoopReport
  after: LoopReport
}

interface Server {
  url: string
  conversations: readonly string[]
  /** Where the server reports on its event loop. */
  report: string
}

export const concurrentStreams: Benchmark = {
  name: 'streams',
  run: () =>
    withHome((home) =>
      withProvider(async (provider) => {
        const [report, bareReport] = [join(home, '..', 'daemon.json'), join(home, '..', 'bare.json')]
        const daemon = await startDaemon(home, createEnvironment(report))
        try {
          const agent = await createAgent(daemon, provider)
          const conversations: string[] = []
          for (let count = 0; count < STREAMS; count++) conversations.push(await createConversation(daemon, agent))
          const work = (url: string) => compare({ url: daemon.url, conversations, report }, { url, conversations, report: bareReport })
          return await withBareServer('bare-relay.js', provider, work, createEnvironment(bareReport))
        } finally {
          await daemon.stop()
        }
      }),
    ),
}

const createEnvironment = (report: string): Record<string, string> => ({
  NODE_OPTIONS: `--import ${join(ROOT, 'bench', 'support', 'loop-delay.js')}`,
  BENCH_LOOP_DELAY: report,
})

/** Alternates. The least delay and CPU time of each count. */
async function compare(daemon: Server, bare: Server): Promise<Figure[]> {
  const runs: { ours: Run[]; bare: Run[] } = { ours: [], bare: [] }
  for (let round = 0; round < ROUNDS; round++) {
    runs.ours.push(await measureStreams(daemon))
    runs.bare.push(await measureStreams(bare))
  }
  const wrong = runs.ours.reduce((sum, run) => sum + run.wrong, 0)
  const [before, peak] = [(runs.ours[0] as Run).before.rss, Math.max(...runs.ours.map(({ after }) => after.peakRss))]
  const getLeast = (of: readonly Run[], name: 'p99' | 'cpuMs') => Math.min(...of.map(({ after }) => after[name]))
  const [delay, bareDelay] = [getLeast(runs.ours, 'p99'), getLeast(runs.bare, 'p99')]
  const [cpu, bareCpu] = [getLeast(runs.ours, 'cpuMs'), getLeast(runs.bare, 'cpuMs')]
  return [
    { name: `${STREAMS} streams of ${TOKENS} tokens, wrong replies`, figure: `${wrong}`, ratio: wrong, bar: { most: 0 } },
    {
      name: 'peak memory growth, relative to 150 MB',
      figure: `${(before / 1e6).toFixed(0)} to ${(peak / 1e6).toFixed(0)} MB`,
      ratio: (peak - before) / MAX_MEMORY_BYTES,
      bar: { most: 1 },
    },
    {
      name: 'event loop delay, 99th percentile, relative to the AI SDK in Fastify',
      figure: `${delay.toFixed(1)} to ${bareDelay.toFixed(1)} ms`,
      ratio: delay / bareDelay,
      bar: { most: MAX_DELAY_RATIO },
    },
    {
      name: 'CPU of the streams, relative to the AI SDK in Fastify',
      figure: `${(cpu / 1000).toFixed(1)} to ${(bareCpu / 1000).toFixed(1)} s`,
      ratio: cpu / bareCpu,
      bar: { most: MAX_CPU_RATIO },
    },
  ]
}

async function measureStreams({ url, conversations, report }: Server): Promise<Run> {
  // Warm-up: excludes code that is loaded on first use.
  for (const id of conversations.slice(0, 20)) await streamReply({ url }, id, { name: 'warm', tokens: 20, everyMs: 1 })
  const before = await readLoopReport(report)
  const tasks = conversations.map((id, index) => ({ id, task: { name: `n${index}`, tokens: TOKENS, everyMs: TOKEN_INTERVAL_MS } }))
  const isWrong = await Promise.all(
    tasks.map(async ({ id, task }) => {
      const { text, end } = await streamReply({ url }, id, task)
      return end !== 'message_end' || text !== createExpectedText(task)
    }),
  )
  return { wrong: isWrong.filter(Boolean).length, before, after: await readLoopReport(report) }
}

/** Requests a report of the time since the previous one. */
async function readLoopReport(report: string): Promise<LoopReport> {
  writeFileSync(`${report}.ask`, '')
  await waitFor(() => !existsSync(`${report}.ask`), { intervalMs: 20, description: 'the report of the event loop' })
  return JSON.parse(readFileSync(report, 'utf8')) as LoopReport
}
