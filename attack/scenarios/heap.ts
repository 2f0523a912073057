/** The daemon's heap after a million requests of every kind. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TOKEN } from '../../test/harness/daemon.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../support/daemon.ts'
import { type PreparedRequest, prepareRequest, sendPipelined } from '../support/pipelined-connection.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'

const PRELOAD = fileURLToPath(new URL('../support/heap-report.js', import.meta.url))
const MAX_GROWTH_BYTES = 16 * 1024 * 1024
/** Share of the requests before the first measurement, which fill caches. */
const WARM_UP = 0.05
const MEGABYTE = 1024 * 1024
const CONNECTIONS = 16
const WRITERS = 4
/** Writes for each other request. */
const WRITE_SHARE = 0.026

export const heap: Scenario = {
  name: 'heap',
  promise: 'Memory does not grow with the number of requests.',
  run: (options) =>
    withFolder(async (folder) => {
      const amount = scaleAmount(1_000_000, options, 10_000)
      const report = join(folder, 'heap.json')
      const daemon = await openDaemon(join(folder, 'home'), {
        nodeOptions: ['--import', PRELOAD],
        environment: { ATTACK_HEAP_REPORT: report },
      })
      try {
        const requests = await createRequests(daemon)
        const warmUp = await send(daemon, requests, amount * WARM_UP)
        const before = await readHeap(report)
        const rest = await send(daemon, requests, amount * (1 - WARM_UP))
        const after = await readHeap(report)
        const growth = after.heapUsed + after.external - before.heapUsed - before.external
        const violations = [...warmUp.problems, ...rest.problems]
        if (growth > MAX_GROWTH_BYTES) violations.push(`the heap grew by ${(growth / MEGABYTE).toFixed(1)} MB`)
        const sizes = [before, after].map(({ heapUsed, external }) => ((heapUsed + external) / MEGABYTE).toFixed(1))
        const figure = `heap ${sizes.join(' MB, then ')} MB after garbage collection; ${rest.writes} writes`
        return { amount: `${warmUp.count + rest.count} requests`, figure, violations }
      } finally {
        await daemon.kill()
      }
    }),
}

async function createRequests({ client }: RunningDaemon): Promise<PreparedRequest[]> {
  const agent = await client.create('/agents', { name: 'reader', description: 'x'.repeat(500) })
  const template = await client.create('/prompt-templates', { name: 'greeting', template: 'Hello {{name}}' })
  const headers = { authorization: `Bearer ${TOKEN}` }
  const json = { ...headers, 'content-type': 'application/json' }
  return [
    prepareRequest('GET', '/api/settings', headers),
    prepareRequest('GET', `/api/agents/${agent.id}`, headers),
    prepareRequest('GET', '/api/agents?limit=5&sort=name', headers),
    prepareRequest('GET', '/api/agents/nobody', headers),
    prepareRequest('GET', '/api/agents', { authorization: 'Bearer cadre_wrong' }),
    prepareRequest('GET', '/api/nothing', headers),
    prepareRequest('POST', '/api/agents', json, '{"name":'),
    prepareRequest('POST', '/api/agents', json, '{"nmae":"x"}'),
    prepareRequest('POST', `/api/prompt-templates/${template.id}/render`, json, '{"variables":{"name":"Ada"}}'),
    prepareRequest('GET', '/api/usage/stats', headers),
  ]
}

interface Load {
  count: number
  writes: number
  problems: string[]
}

/** Sends the requests in turn; meanwhile some clients create and delete agents with keys. */
async function send({ url, client }: RunningDaemon, requests: readonly PreparedRequest[], amount: number): Promise<Load> {
  const run = randomUUID()
  let writes = 0
  const problems: string[] = []
  const write = async () => {
    while (writes < amount * WRITE_SHARE) {
      writes += 2
      const created = await client.post('/agents', { name: 'short-lived' }, { key: `${run}-${writes}` })
      if (created.status !== 201) problems.push(`POST /agents returned ${created.status}: ${created.text}`)
      await client.call('DELETE', `/agents/${created.data?.id}`)
    }
  }
  let sent = 0
  const sendNext = () => (sent < amount ? requests[sent++ % requests.length] : undefined)
  const read = () =>
    sendPipelined(url, sendNext, ({ name }, status) => {
      if (status >= 500) problems.push(`${name} returned ${status}`)
    })
  await Promise.all([...Array.from({ length: CONNECTIONS }, read), ...Array.from({ length: WRITERS }, write)])
  return { count: Math.round(amount) + writes, writes, problems }
}

/** Memory of the daemon after a garbage collection. */
async function readHeap(report: string): Promise<{ heapUsed: number; external: number; rss: number }> {
  writeFileSync(`${report}.ask`, '')
  await waitFor(() => !existsSync(`${report}.ask`), { intervalMs: 50, description: 'the report of the heap' })
  return JSON.parse(readFileSync(report, 'utf8'))
}
