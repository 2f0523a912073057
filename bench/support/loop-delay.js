/** Preloaded into the daemon: reports event loop delay, CPU time and memory on request. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const path = process.env.BENCH_LOOP_DELAY
if (path && isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  let peakRss = 0
  let cpuUsage = process.cpuUsage()
  delay.enable()
  setInterval(() => {
    const { rss } = process.memoryUsage()
    peakRss = Math.max(peakRss, rss)
    // Requested by a file, because writing reports all the time would itself delay the event loop.
    if (!existsSync(`${path}.ask`)) return
    const { user, system } = process.cpuUsage(cpuUsage)
    const report = { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6, cpuMs: (user + system) / 1e3, rss, peakRss }
    writeFileSync(path, JSON.stringify(report))
    delay.reset()
    peakRss = 0
    cpuUsage = process.cpuUsage()
    rmSync(`${path}.ask`)
  }, 50).unref()
}
