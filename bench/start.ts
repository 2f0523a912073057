/** Time from spawning the daemon until it is healthy: with a new home, with an existing one and after kill -9 during writes. */
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { request, startDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, formatMilliseconds, median } from './support/figures.ts'

const ROUNDS = 5
const MAX_START_MS = 2_000

export const start: Benchmark = {
  name: 'start',
  async run() {
    const times = { first: [] as number[], again: [] as number[], killed: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      await withHome(async (home) => {
        const first = await startHealthyDaemon(home, times.first)
        await first.stop()
        const again = await startHealthyDaemon(home, times.again)
        await killWhileWriting(again)
        const killed = await startHealthyDaemon(home, times.killed)
        await killed.stop()
      })
    }
    const figure = (name: string, values: number[]) => {
      const value = median(values)
      return {
        name,
        figure: `${formatMilliseconds(value)} of ${formatMilliseconds(MAX_START_MS)}`,
        ratio: value / MAX_START_MS,
        bar: { most: 1 },
      }
    }
    return [
      figure('start to healthy, new home', times.first),
      figure('start to healthy, existing home', times.again),
      figure('start to healthy, after kill -9', times.killed),
    ]
  },
}

async function startHealthyDaemon(home: string, times: number[]): Promise<DaemonProcess> {
  const startedAt = performance.now()
  const daemon = await startDaemon(home)
  const { status } = await request<{ status: string }>(daemon, 'GET', '/api/health')
  times.push(performance.now() - startedAt)
  if (status !== 'healthy') throw new Error(`The daemon reports ${status} after its start.`)
  return daemon
}

async function killWhileWriting(daemon: DaemonProcess): Promise<void> {
  const writes = Array.from({ length: 200 }, (_, number) => request(daemon, 'POST', '/api/agents', { name: `Agent ${number}` }))
  await Promise.race(writes)
  await daemon.stop('SIGKILL')
  await Promise.allSettled(writes)
}
