/** Loaded into the daemon before anything else: says how late its event loop was, what it computed and how much memory it held, when it is asked. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const path = process.env.BENCH_LOOP_DELAY
if (path && isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  let most = 0
  let computed = process.cpuUsage()
  delay.enable()
  setInterval(() => {
    const { rss } = process.memoryUsage()
    most = Math.max(most, rss)
    // A file is the question: anything written while it works would itself be a delay.
    if (!existsSync(`${path}.ask`)) return
    const { user, system } = process.cpuUsage(computed)
    writeFileSync(path, JSON.stringify({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6, cpuMs: (user + system) / 1e3, rss, most }))
    delay.reset()
    most = 0
    computed = process.cpuUsage()
    rmSync(`${path}.ask`)
  }, 50).unref()
}
