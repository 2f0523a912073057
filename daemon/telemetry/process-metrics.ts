/** Metrics of the process: CPU, memory and the event loop, under the names that dashboards of Node.js expect. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { MetricRegistry } from './metrics.ts'

const LAG_RESOLUTION_MS = 20
const NANOSECONDS = 1e9

export function addProcessMetrics(registry: MetricRegistry): void {
  const addOne = (type: 'gauge' | 'counter', name: string, help: string, read: () => number) =>
    registry.addCollected(type, name, help, undefined, async () => ({ '': read() }))
  addOne('gauge', 'process_start_time_seconds', 'Start time of the process, in seconds since 1970.', () => performance.timeOrigin / 1000)
  addOne('counter', 'process_cpu_seconds_total', 'CPU time of the process.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  addOne('gauge', 'process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  addOne('gauge', 'nodejs_heap_size_used_bytes', 'Used heap.', () => process.memoryUsage().heapUsed)
  addOne('gauge', 'nodejs_external_memory_bytes', 'Memory of buffers and native objects.', () => process.memoryUsage().external)
  const collectLag = createLagMonitor()
  registry.addCollected('gauge', 'nodejs_eventloop_lag_seconds', 'Lag of the event loop since the last scrape.', 'quantile', collectLag)
  let previous = performance.eventLoopUtilization()
  addOne('gauge', 'nodejs_eventloop_utilization', 'Share of time that the event loop was busy since the last scrape.', () => {
    const current = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(current, previous)
    previous = current
    return utilization
  })
}

/** Starts with the first scrape, so that a daemon without a scraper is not woken by a timer. */
function createLagMonitor(): () => Promise<Record<string, number>> {
  const histogram = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  return async () => {
    // Returns true at the first scrape.
    if (histogram.enable() || histogram.count === 0) return {}
    const toSeconds = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - LAG_RESOLUTION_MS / 1000)
    const values = {
      '0.5': toSeconds(histogram.percentile(50)),
      '0.99': toSeconds(histogram.percentile(99)),
      '1': toSeconds(histogram.max),
    }
    histogram.reset()
    return values
  }
}
