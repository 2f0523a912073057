/** A folder of 100,000 files: what it costs to follow its changes by watching or by listing it, and how soon a change is noticed. */
import { once } from 'node:events'
import { mkdirSync, watch as watchFolder, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { FolderMonitor } from '../../daemon/knowledge/sources/files/folder-monitor.ts'
import { WatchBudget } from '../../daemon/knowledge/sources/files/watch-budget.ts'
import { ManualClock } from '../../test/harness/clocks/manual-clock.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
import { withHome } from '../support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds } from '../support/figures.ts'
import { measureCpu } from '../support/measure-cpu.ts'

const FOLDERS = 2_000
const FILES_PER_FOLDER = 50
/** The daemon waits for so long for further changes. */
const DEBOUNCE_MS = 300
const MAX_NOTICE_RATIO = 1.4
const MAX_MEMORY_MB = 100
const POLL_MS = 3_600_000

export const watching: Benchmark = {
  name: 'watching',
  run: () =>
    withHome(async (folder) => {
      createFiles(folder)
      return [...(await watch(folder)), await poll(folder)]
    }),
}

function createFiles(root: string): void {
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(root, String(folder))
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < FILES_PER_FOLDER; file++) writeFileSync(join(path, `${file}.md`), 'x')
  }
}

async function watch(folder: string): Promise<Figure[]> {
  const changes = new EventTarget()
  const monitor = createMonitor(folder, new WatchBudget(FOLDERS + 1), () => changes.dispatchEvent(new Event('change')))
  const before = process.memoryUsage().rss
  const cpuMs = await measureCpu(() => monitor.start())
  if (monitor.state.mode !== 'events') throw new Error(`The folder is not watched: ${monitor.state.reason}`)
  const memoryMb = (process.memoryUsage().rss - before) / 1024 / 1024
  const startedAt = performance.now()
  const change = once(changes, 'change')
  const bare = watchFolder(join(folder, '1999'))
  const bareNotice = once(bare, 'change').then(async () => {
    await pause(DEBOUNCE_MS)
    return performance.now() - startedAt
  })
  writeFileSync(join(folder, '1999', 'new.md'), 'New.')
  await change
  const noticedMs = performance.now() - startedAt
  const bareMs = await bareNotice
  monitor.close()
  bare.close()
  return [
    { name: '100,000 files, watched: start', figure: `${formatMilliseconds(cpuMs)} of CPU time, ${FOLDERS + 1} watches` },
    {
      name: `100,000 files, watched: memory, of ${MAX_MEMORY_MB} MB`,
      figure: `${Math.round(memoryMb)} MB`,
      ratio: memoryMb / MAX_MEMORY_MB,
      bar: { most: 1 },
    },
    {
      name: `100,000 files, watched: a change is noticed, relative to fs.watch of its folder and a pause of ${DEBOUNCE_MS} ms`,
      figure: `${formatMilliseconds(noticedMs)} to ${formatMilliseconds(bareMs)}`,
      ratio: noticedMs / bareMs,
      bar: { most: MAX_NOTICE_RATIO },
    },
  ]
}

/** Measures one listing, which the clock starts. */
async function poll(folder: string): Promise<Figure> {
  const clock = new ManualClock()
  const monitor = createMonitor(folder, new WatchBudget(10), () => {}, clock)
  await monitor.start()
  await waitFor(() => clock.scheduled > 0)
  const cpuMs = await measureCpu(async () => {
    clock.advance(POLL_MS)
    await waitFor(() => clock.scheduled > 0)
  })
  monitor.close()
  return { name: '100,000 files, polled: a listing', figure: `${formatMilliseconds(cpuMs)} of CPU time` }
}

const createMonitor = (path: string, budget: WatchBudget, onChange: () => void, clock?: ManualClock) =>
  new FolderMonitor({ configuration: { path }, budget, onChange, onPolling: () => {}, ...(clock ? { clock } : {}) })
