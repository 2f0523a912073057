/** 500 concurrent replies: correctness, memory and event loop delay of the daemon. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../test/harness/wait-for.ts'
import { createAgent, createConversation, createExpectedText, streamReply, withProvider } from './support/conversation.ts'
import { ROOT, startDaemon, withHome } from './support/daemon.ts'
import type { Benchmark } from './support/figures.ts'

const STREAMS = 500
const TOKENS = 100
/** The pace of hosted models. */
const TOKEN_INTERVAL_MS = 30
const MAX_MEMORY_BYTES = 150 * 1024 * 1024
/** Was 50 ms with a throttle that served only this benchmark (decision 0021). */
const MAX_DELAY_MS = 150

interface LoopReport {
  p99: number
  max: number
  cpuMs: number
  rss: number
  peakRss: number
}

export const concurrentStreams: Benchmark = {
  name: 'streams',
  run: () =>
    withHome((home) =>
      withProvider(async (provider) => {
        const report = join(home, '..', 'loop-delay.json')
        const daemon = await startDaemon(home, {
          NODE_OPTIONS: `--import ${join(ROOT, 'bench', 'support', 'loop-delay.js')}`,
          BENCH_LOOP_DELAY: report,
        })
        try {
          const agent = await createAgent(daemon, provider)
          const conversations: string[] = []
          for (let count = 0; count < STREAMS; count++) conversations.push(await createConversation(daemon, agent))
          // Warm-up: excludes code that is loaded on first use.
          for (const id of conversations.slice(0, 20)) await streamReply(daemon, id, { name: 'warm', tokens: 20, everyMs: 1 })
          const before = await readLoopReport(report)
          const tasks = conversations.map((id, index) => ({ id, task: { name: `n${index}`, tokens: TOKENS, everyMs: TOKEN_INTERVAL_MS } }))
          const startedAt = performance.now()
          const replies = await Promise.all(tasks.map(({ id, task }) => streamReply(daemon, id, task)))
          const seconds = (performance.now() - startedAt) / 1000
          const after = await readLoopReport(report)
          const wrong = replies.filter(
            ({ text, end }, index) => end !== 'message_end' || text !== createExpectedText((tasks[index] as (typeof tasks)[number]).task),
          )
          return [
            {
              name: `${STREAMS} streams of ${TOKENS} tokens, wrong replies`,
              figure: `${wrong.length} in ${seconds.toFixed(1)} s`,
              ratio: wrong.length,
              bar: { most: 0 },
            },
            {
              name: 'peak memory growth, relative to 150 MB',
              figure: `${(before.rss / 1e6).toFixed(0)} to ${(after.peakRss / 1e6).toFixed(0)} MB`,
              ratio: (after.peakRss - before.rss) / MAX_MEMORY_BYTES,
              bar: { most: 1 },
            },
            {
              name: `event loop delay, 99th percentile, relative to ${MAX_DELAY_MS} ms`,
              figure: `${after.p99.toFixed(1)} ms, at most ${after.max.toFixed(0)} ms; ${(after.cpuMs / 1000).toFixed(1)} s of CPU`,
              ratio: after.p99 / MAX_DELAY_MS,
              bar: { most: 1 },
            },
          ]
        } finally {
          await daemon.stop()
        }
      }),
    ),
}

/** Requests a report of the time since the previous one. */
async function readLoopReport(report: string): Promise<LoopReport> {
  writeFileSync(`${report}.ask`, '')
  await waitFor(() => !existsSync(`${report}.ask`), { intervalMs: 20, description: 'the report of the event loop' })
  return JSON.parse(readFileSync(report, 'utf8')) as LoopReport
}
