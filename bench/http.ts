/** Requests per second for one agent, relative to a bare Fastify route that returns the same body from memory. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { withBareServer } from './support/bare-server.ts'
import { request, TOKEN, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, median } from './support/figures.ts'

const ROUNDS = 9
const ROUND_SECONDS = 1
const CONNECTIONS = 10
const AUTOCANNON = fileURLToPath(import.meta.resolve('autocannon'))

export const http: Benchmark = {
  name: 'http',
  run: () =>
    withHome((home) =>
      withDaemon(home, async (daemon) => {
        const input = {
          name: 'Handbook helper',
          description: 'Answers questions',
          system_prompt: 'Answer from the handbook and cite it.',
          topics: ['leave'],
        }
        const { data } = await request<{ data: { id: string } }>(daemon, 'POST', '/api/agents', input)
        const path = `/api/agents/${data.id}`
        const body = await request<object>(daemon, 'GET', path)
        return withBareServer('bare-fastify.js', JSON.stringify(body), async (bareUrl) => {
          const ours: number[] = []
          const bare: number[] = []
          // Alternates. The first round is a warm-up.
          for (let round = 0; round <= ROUNDS; round++) {
            const [ourRate, bareRate] = [measureRate(daemon.url + path), measureRate(bareUrl + path)]
            if (round === 0) continue
            ours.push(ourRate)
            bare.push(bareRate)
          }
          const ratio = median(ours.map((rate, round) => rate / (bare[round] as number)))
          const figure = `${median(ours).toFixed(0)} to ${median(bare).toFixed(0)} per second`
          return [{ name: 'GET /api/agents/{id}, rate', figure, ratio, bar: { least: 0.5 } }]
        })
      }),
    ),
}

/** Returns the responses per second. Throws if a request failed. */
function measureRate(url: string): number {
  const options = [
    '--json',
    '--connections',
    String(CONNECTIONS),
    '--duration',
    String(ROUND_SECONDS),
    '--headers',
    `authorization=Bearer ${TOKEN}`,
  ]
  const { stdout, stderr, status } = spawnSync(process.execPath, [AUTOCANNON, ...options, url], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(`autocannon exited with ${status}: ${stderr}`)
  const {
    requests,
    non2xx,
    errors,
    '2xx': good,
  } = JSON.parse(stdout) as { requests: { average: number }; non2xx: number; errors: number; '2xx': number }
  if (non2xx > 0 || errors > 0 || good === 0) throw new Error(`${url}: ${good} successful responses, ${non2xx} others, ${errors} errors`)
  return requests.average
}
