/** A CSV file of a million rows: how much its table adds to a sync, how long queries take, and the memory of the daemon. */
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { request, withDaemon, withHome } from '../support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from '../support/figures.ts'

const ROWS = Number(process.env.CADRE_BENCH_ROWS ?? 1_000_000)
const BATCH = 10_000
const MAX_FILE_BYTES = 200 * 1024 * 1024
const POLL_INTERVAL_MS = 50
/** Passages are embedded for so long; the time for all of them is extrapolated. */
const EMBEDDING_SAMPLE_MS = 20_000
const QUERY_REPEATS = 5
const MAX_COUNT_MS = 100
const MAX_GROUP_MS = 500
const MAX_MEMORY_MB = 300
const MAX_SYNC_RATIO = 1.5

interface SourceState {
  progress: { stage: string; documents: number; documents_total: number | null; chunks: number; chunks_total: number } | null
}

interface StageTimes {
  readMs: number
  tableMs: number
  embedMs: number
  /** Peak memory until the documents were read, in MB. */
  readMemory: number
}

export const largeTable: Benchmark = {
  name: 'large-table',
  isOptional: true,
  run: () =>
    withHome(async (home) => {
      const folder = join(home, '..', 'documents')
      writeTable(folder)
      return withDaemon(home, async (daemon): Promise<Figure[]> => {
        const configuration = { path: folder, watch: false, max_file_size: MAX_FILE_BYTES }
        const { data: source } = await request<{ data: { id: string } }>(daemon, 'POST', '/api/knowledge-sources', {
          name: 'large',
          type: 'folder',
          configuration,
        })
        const { readMs, tableMs, embedMs, readMemory } = await measureStages(daemon, source.id)
        await request(daemon, 'DELETE', `/api/knowledge-sources/${source.id}/sync`)
        const count = await measureQuery(daemon, source.id, "SELECT count(*) FROM orders WHERE status = 'cancelled'")
        const group = await measureQuery(daemon, source.id, 'SELECT customer, sum(amount) FROM orders GROUP BY customer ORDER BY 2 DESC')
        const memory = readPeakMemory(daemon)
        const withoutTables = readMs + embedMs
        const times = [readMs, tableMs, embedMs].map((ms) => `${Math.round(ms / 1000)} s`)
        return [
          {
            name: `sync of ${ROWS} rows with tables, relative to one without`,
            figure: `${times[0]} to read, ${times[1]} for the table, ${times[2]} to embed (extrapolated)`,
            ratio: (withoutTables + tableMs) / withoutTables,
            bar: { most: MAX_SYNC_RATIO },
          },
          createLimit('count with a filter', count, MAX_COUNT_MS),
          createLimit('groups', group, MAX_GROUP_MS),
          {
            name: `peak memory of the daemon, of ${MAX_MEMORY_MB} MB`,
            figure: `${memory} MB, ${readMemory} MB of them before the table was built`,
            ratio: memory / MAX_MEMORY_MB,
            bar: { most: 1 },
          },
        ]
      })
    }),
}

const createLimit = (name: string, ms: number, most: number): Figure => ({
  name: `${name}, of ${most} ms`,
  figure: formatMilliseconds(ms),
  ratio: ms / most,
  bar: { most: 1 },
})

function writeTable(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const file = openSync(join(folder, 'orders.csv'), 'w')
  writeSync(file, 'Order,Date,Customer,Status,Amount\n')
  const states = ['shipped', 'open', 'shipped', 'cancelled', 'returned']
  for (let start = 1; start <= ROWS; start += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, ROWS - start + 1) }, (_, offset) => {
      const number = start + offset
      const day = new Date(Date.UTC(2020, 0, 1 + ((number * 7) % 2000))).toISOString().slice(0, 10)
      return `${number},${day},Customer ${(number * 31) % 977},${states[number % states.length]},${((number * 37) % 100_000) / 100}\n`
    })
    writeSync(file, rows.join(''))
  }
  closeSync(file)
}

/** Follows the sync: reading ends with the last document, the table with the first passage that is embedded. */
async function measureStages(daemon: DaemonProcess, id: string): Promise<StageTimes> {
  await request(daemon, 'POST', `/api/knowledge-sources/${id}/sync`)
  const startedAt = performance.now()
  let readAt: number | undefined
  let readMemory = 0
  for (;;) {
    await sleep(POLL_INTERVAL_MS)
    const { data } = await request<{ data: SourceState }>(daemon, 'GET', `/api/knowledge-sources/${id}`)
    const { progress } = data
    if (progress === null) throw new Error('The sync has ended before passages were embedded.')
    if (readAt === undefined) readMemory = readPeakMemory(daemon)
    if (progress.stage === 'reading' && progress.documents === progress.documents_total) readAt ??= performance.now()
    if (progress.stage !== 'embedding') continue
    const tableAt = performance.now()
    await sleep(EMBEDDING_SAMPLE_MS)
    const { data: later } = await request<{ data: SourceState }>(daemon, 'GET', `/api/knowledge-sources/${id}`)
    const embedded = (later.progress?.chunks ?? progress.chunks_total) - progress.chunks
    const embedMs = ((performance.now() - tableAt) / Math.max(1, embedded)) * progress.chunks_total
    return { readMs: (readAt ?? tableAt) - startedAt, tableMs: tableAt - (readAt ?? tableAt), embedMs, readMemory }
  }
}

async function measureQuery(daemon: DaemonProcess, id: string, sql: string): Promise<number> {
  const run = async () => {
    const startedAt = performance.now()
    await request(daemon, 'POST', `/api/knowledge-sources/${id}/tables/query`, { sql })
    return performance.now() - startedAt
  }
  // The first query starts the process.
  await run()
  const times: number[] = []
  for (let repeat = 0; repeat < QUERY_REPEATS; repeat++) times.push(await run())
  return median(times)
}

const readPeakMemory = ({ child }: DaemonProcess): number => {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}
