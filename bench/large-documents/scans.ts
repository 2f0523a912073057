/** 100 scanned pages: CPU time of text recognition per page, and how long other requests take meanwhile. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { readCpuSeconds } from '../support/cpu-time.ts'
import { request, withDaemon, withHome } from '../support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds } from '../support/figures.ts'

const PAGES = Number(process.env.CADRE_BENCH_PAGES ?? 100)
const MAX_CPU_SECONDS = 3
const MAX_RESPONSE_MS = 100
const REQUEST_INTERVAL_MS = 50
const QUIET_REQUESTS = 200
/** A skewed letter with noise. */
const SCAN = new URL('../../test/knowledge/recognition/fixtures/skewed.jpg', import.meta.url)

interface Source {
  id: string
  statistics: { recognizing: number; chunks: number; failed: number }
  progress: { stage: string } | null
}

export const scans: Benchmark = {
  name: 'scans',
  run: () =>
    withHome((home) =>
      withDaemon(home, async (daemon): Promise<Figure[]> => {
        const before = await measureQuiet(daemon)
        const { data: source } = await request<{ data: Source }>(daemon, 'POST', '/api/knowledge-sources', { name: 'scans', type: 'file' })
        const body = { name: 'scans.pdf', content_base64: createScan(PAGES).toString('base64') }
        await request(daemon, 'POST', `/api/knowledge-sources/${source.id}/documents`, body)
        const { cpuSeconds, responses } = await measure(daemon, source.id)
        const response = findPercentile(responses)
        return [
          {
            name: `CPU time of a scanned page, of ${MAX_CPU_SECONDS} s`,
            figure: `${(cpuSeconds / PAGES).toFixed(2)} s per page, ${PAGES} pages`,
            ratio: cpuSeconds / PAGES / MAX_CPU_SECONDS,
            bar: { most: 1 },
          },
          {
            name: `other requests meanwhile, 95 % of them, of ${MAX_RESPONSE_MS} ms`,
            figure: `${formatMilliseconds(response)} of ${responses.length} requests, ${formatMilliseconds(before)} before`,
            ratio: response / MAX_RESPONSE_MS,
            bar: { most: 1 },
          },
        ]
      }),
    ),
}

/** Returns how long requests take without text recognition, on a machine that may be busy with something else. */
async function measureQuiet(daemon: DaemonProcess): Promise<number> {
  const responses: number[] = []
  for (let count = 0; count < QUIET_REQUESTS; count++) {
    const startedAt = performance.now()
    await request(daemon, 'GET', '/api/knowledge-sources')
    responses.push(performance.now() - startedAt)
    await sleep(REQUEST_INTERVAL_MS)
  }
  return findPercentile(responses)
}

/** 95 % of the values are not larger. */
const findPercentile = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN

/** Sends requests until all pages were recognised. */
async function measure(daemon: DaemonProcess, sourceId: string): Promise<{ cpuSeconds: number; responses: number[] }> {
  const responses: number[] = []
  // The process may be replaced.
  const cpuSeconds = new Map<number, number>()
  for (let hasStarted = false; ; ) {
    const startedAt = performance.now()
    const { data } = await request<{ data: Source }>(daemon, 'GET', `/api/knowledge-sources/${sourceId}`)
    for (const pid of findRecognizers(daemon.child.pid)) cpuSeconds.set(pid, readCpuSeconds(pid))
    if (data.progress?.stage === 'recognizing') {
      hasStarted = true
      responses.push(performance.now() - startedAt)
    } else if (hasStarted && data.progress === null) {
      if (data.statistics.failed > 0 || data.statistics.chunks === 0) throw new Error('The scan was not recognised.')
      return { cpuSeconds: [...cpuSeconds.values()].reduce((sum, seconds) => sum + seconds, 0), responses }
    }
    await sleep(REQUEST_INTERVAL_MS)
  }
}

function findRecognizers(daemonPid: number | undefined): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const parent = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')[1]
      const isRecognizer = Number(parent) === daemonPid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('recognition-worker')
      return isRecognizer ? [Number(name)] : []
    } catch {
      return [] // not a process, or it has ended
    }
  })
}

/** Returns a PDF file whose pages have three letters each, as images. */
function createScan(pages: number): Buffer {
  const image = readFileSync(SCAN)
  const content = [570, 300, 30].map((top) => `q 540 0 0 250 27 ${top} cm /Scan Do Q`).join('\n')
  const stream = (dictionary: string, bytes: Buffer) => [`<< ${dictionary} /Length ${bytes.length} >>\nstream\n`, bytes, '\nendstream']
  const objects: (string | Buffer)[][] = [
    ['<< /Type /Catalog /Pages 2 0 R >>'],
    [`<< /Type /Pages /Count ${pages} /Kids [${Array.from({ length: pages }, (_, page) => `${page + 5} 0 R`).join(' ')}] >>`],
    stream('/Type /XObject /Subtype /Image /Width 1022 /Height 474 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode', image),
    stream('', Buffer.from(content)),
    ...Array.from({ length: pages }, () => [
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /XObject << /Scan 3 0 R >> >> /Contents 4 0 R >>',
    ]),
  ]
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  const offsets: number[] = []
  let length = 9
  const write = (part: string | Buffer) => {
    const bytes = Buffer.from(part)
    parts.push(bytes)
    length += bytes.length
  }
  for (const [index, object] of objects.entries()) {
    offsets.push(length)
    for (const part of [`${index + 1} 0 obj\n`, ...object, '\nendobj\n']) write(part)
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const start = length
  write(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`)
  write(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`)
  return Buffer.concat(parts)
}
