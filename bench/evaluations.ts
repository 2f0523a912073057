/** Evaluations: a thousand cases through the daemon, beside the same calls in a bare loop. */
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { request, withDaemon, withHome } from './support/daemon.ts'
import type { Benchmark, Figure } from './support/figures.ts'

const TEST_CASES = 1_000
const CONCURRENCY = 16
/** What a fast model takes for a short answer, and a server that has it ready: the less it takes, the more Cadre's own work shows. */
const REPLY_DELAYS_MS = [50, 20]

export const evaluations: Benchmark = {
  name: 'evaluations',
  async run() {
    const figures: Figure[] = []
    for (const answerMs of REPLY_DELAYS_MS)
      figures.push(
        ...(await withProvider(answerMs, (url) => withHome((home) => withDaemon(home, (daemon) => measure(daemon, url, answerMs))))),
      )
    return figures
  },
}

async function withProvider<T>(answerMs: number, work: (url: string) => Promise<T>): Promise<T> {
  const provider = await startProvider(answerMs)
  try {
    return await work(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`)
  } finally {
    provider.closeAllConnections()
    provider.close()
  }
}

async function measure(daemon: DaemonProcess, url: string, answerMs: number): Promise<Figure[]> {
  const bare = await measureBareLoop(url)
  const post = async (path: string, body?: object) =>
    (await request<{ data: Record<string, string> }>(daemon, 'POST', `/api${path}`, body)).data
  const model = await post('/models', { name: 'scripted', provider: 'openai-compatible', model_id: 'scripted', endpoint: url })
  const agent = await post('/agents', { name: 'agent', model_id: model.id })
  const test_cases = Array.from({ length: TEST_CASES }, (_, index) => ({ input: `case ${index}`, expected_output: 'yes' }))
  const { id } = await post('/evaluations', { name: 'many', type: 'agent', target_id: agent.id, test_cases, concurrency: CONCURRENCY })
  const figure = async (when: string): Promise<Figure> => {
    const rate = await waitForRate(daemon, id as string, (await post(`/evaluations/${id}/run`)).run_id as string)
    return {
      name: `${TEST_CASES} cases of ${answerMs} ms, ${CONCURRENCY} at a time, ${when}, against the bare calls`,
      figure: `${rate.toFixed(0)}/s against ${bare.toFixed(0)}/s`,
      ratio: rate / bare,
      bar: { least: 0.8 },
    }
  }
  // The first run also compiles what it runs through, as the bare loop did.
  return [await figure('first since the start'), await figure('from then on')]
}

/** Cases a second, once the run has ended. */
async function waitForRate(daemon: DaemonProcess, evaluation: string, run: string): Promise<number> {
  for (;;) {
    const { data } = await request<{ data: { status: string; started_at: string; finished_at: string } }>(
      daemon,
      'GET',
      `/api/evaluations/${evaluation}/runs/${run}`,
    )
    if (data.status === 'completed') return TEST_CASES / ((Date.parse(data.finished_at) - Date.parse(data.started_at)) / 1000)
    await pause(100)
  }
}

/** Calls a second without anything around them. */
async function measureBareLoop(url: string): Promise<number> {
  const began = performance.now()
  let next = 0
  const worker = async () => {
    while (next++ < TEST_CASES) await callProvider(url)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return TEST_CASES / ((performance.now() - began) / 1000)
}

const callProvider = (url: string) =>
  new Promise<void>((resolve, reject) => {
    const body = JSON.stringify({ model: 'scripted', stream: true, messages: [{ role: 'user', content: 'case' }] })
    const sent = httpRequest(`${url}/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
      response.resume().once('end', resolve)
    })
    sent.once('error', reject).end(body)
  })

async function startProvider(answerMs: number): Promise<Server> {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const server = createServer(async (asked, response) => {
    asked.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ role: 'assistant', content: 'ye' }))
    await pause(answerMs)
    response.write(chunk({ content: 's' }))
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
