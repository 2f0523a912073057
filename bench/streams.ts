/** Many replies at once: nothing lost or mixed up, and what they cost the daemon in memory and in turns of its event loop. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createAgent, createConversation, createExpectedText, streamReply, withProvider } from './support/conversation.ts'
import { ROOT, startDaemon, withHome } from './support/daemon.ts'
import type { Benchmark } from './support/figures.ts'

const STREAMS = 500
const TOKENS = 100
/** As fast as hosted models write. */
const TOKEN_INTERVAL_MS = 30
const MAX_MEMORY_BYTES = 150 * 1024 * 1024
const MAX_DELAY_MS = 50

interface LoopReport {
  p99: number
  max: number
  cpuMs: number
  rss: number
  most: number
}

export const streams: Benchmark = {
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
          // What is loaded at the first use and stays is no cost of many.
          for (const id of conversations.slice(0, 20)) await streamReply(daemon, id, { name: 'warm', tokens: 20, everyMs: 1 })
          const before = await readLoopReport(report)
          const tasks = conversations.map((id, at) => ({ id, task: { name: `n${at}`, tokens: TOKENS, everyMs: TOKEN_INTERVAL_MS } }))
          const begun = performance.now()
          const told = await Promise.all(tasks.map(({ id, task }) => streamReply(daemon, id, task)))
          const seconds = (performance.now() - begun) / 1000
          const after = await readLoopReport(report)
          const wrong = told.filter(
            ({ text, end }, at) => end !== 'message_end' || text !== createExpectedText((tasks[at] as (typeof tasks)[number]).task),
          )
          return [
            {
              name: `${STREAMS} streams of ${TOKENS} tokens, wrong ones`,
              figure: `${wrong.length} in ${seconds.toFixed(1)} s`,
              ratio: wrong.length,
              bar: { most: 0 },
            },
            {
              name: 'memory they take at most, as a share of 150 MB',
              figure: `${(before.rss / 1e6).toFixed(0)} to ${(after.most / 1e6).toFixed(0)} MB`,
              ratio: (after.most - before.rss) / MAX_MEMORY_BYTES,
              bar: { most: 1 },
            },
            {
              name: 'event loop delay, 99th percentile, as a share of 50 ms',
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

/** What the daemon measured since it was last asked. */
async function readLoopReport(report: string): Promise<LoopReport> {
  writeFileSync(`${report}.ask`, '')
  while (existsSync(`${report}.ask`)) await pause(20)
  return JSON.parse(readFileSync(report, 'utf8')) as LoopReport
}
