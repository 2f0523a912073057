/**
 * Time from spawning the daemon until it is healthy: with a new home, with an existing one and after kill -9 during writes; and the
 * memory of an idle daemon.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { request, startDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'
import { createSyncedSource } from './support/sync-source.ts'

const ROUNDS = 5
const MAX_START_MS = 2_000
const MAX_IDLE_MB = 120
const IDLE_MS = 30_000

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
      ...(process.platform === 'linux' ? [await measureIdleMemory()] : []),
    ]
  },
}

/** Of a daemon that was started with a source and has served nothing. */
async function measureIdleMemory(): Promise<Figure> {
  return withHome(async (home) => {
    const before = await startDaemon(home)
    await createSyncedSource(before, 'Notes', [{ id: 'oak', text: 'The oak stands behind the mill.' }])
    await before.stop()
    const daemon = await startDaemon(home)
    await pause(IDLE_MS)
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${daemon.child.pid}/status`, 'utf8')) ?? []
    await daemon.stop()
    const megabytes = Number(kilobytes) / 1024
    const figure = `${megabytes.toFixed(0)} MB of ${MAX_IDLE_MB} MB`
    return { name: 'resident memory of an idle daemon with a source', figure, ratio: megabytes / MAX_IDLE_MB, bar: { most: 1 } }
  })
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
