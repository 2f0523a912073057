/** How long the daemon takes from its spawn to a healthy answer: a new home, the same home again, and after kill -9 while it was writing. */
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { request, startDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, formatMilliseconds, median } from './support/figures.ts'

const ROUNDS = 5
/** What the daemon promises, in milliseconds. */
const MAX_START_MS = 2_000

export const start: Benchmark = {
  name: 'start',
  async run() {
    const taken = { first: [] as number[], again: [] as number[], killed: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      await withHome(async (home) => {
        const first = await startHealthyDaemon(home, taken.first)
        await first.stop()
        const again = await startHealthyDaemon(home, taken.again)
        await killWhileWriting(again)
        const killed = await startHealthyDaemon(home, taken.killed)
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
      figure('start to healthy, new home', taken.first),
      figure('start to healthy, again', taken.again),
      figure('start to healthy, after kill -9', taken.killed),
    ]
  },
}

async function startHealthyDaemon(home: string, taken: number[]): Promise<DaemonProcess> {
  const began = performance.now()
  const daemon = await startDaemon(home)
  const { status } = await request<{ status: string }>(daemon, 'GET', '/api/health')
  taken.push(performance.now() - began)
  if (status !== 'healthy') throw new Error(`The daemon started and is ${status}.`)
  return daemon
}

async function killWhileWriting(daemon: DaemonProcess): Promise<void> {
  const writes = Array.from({ length: 200 }, (_, number) => request(daemon, 'POST', '/api/agents', { name: `Agent ${number}` }))
  await Promise.race(writes)
  await daemon.stop('SIGKILL')
  await Promise.allSettled(writes)
}
