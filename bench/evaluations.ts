/** Throughput of an evaluation with a thousand test cases, relative to the same provider calls in a loop. */
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { request, withDaemon, withHome } from './support/daemon.ts'
import type { Benchmark, Figure } from './support/figures.ts'

const TEST_CASES = 1_000
const CONCURRENCY = 16
/** Response times of a fast model and of an even faster one, which shows more of Cadre's own cost. */
const REPLY_DELAYS_MS = [50, 20]

export const evaluations: Benchmark = {
  name: 'evaluations',
  async run() {
    const figures: Figure[] = []
    for (const replyMs of REPLY_DELAYS_MS)
      figures.push(
        ...(await withProvider(replyMs, (url) => withHome((home) => withDaemon(home, (daemon) => measure(daemon, url, replyMs))))),
      )
    return figures
  },
}

async function withProvider<T>(replyMs: number, work: (url: string) => Promise<T>): Promise<T> {
  const provider = await startProvider(replyMs)
  try {
    return await work(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`)
  } finally {
    provider.closeAllConnections()
    provider.close()
  }
}

async function measure(daemon: DaemonProcess, url: string, replyMs: number): Promise<Figure[]> {
  const bare = await measureBareLoop(url)
  const post = async (path: string, body?: object) =>
    (await request<{ data: Record<string, string> }>(daemon, 'POST', `/api${path}`, body)).data
  const model = await post('/models', { name: 'scripted', provider: 'openai-compatible', model_id: 'scripted', endpoint: url })
  const agent = await post('/agents', { name: 'agent', model_id: model.id })
  const test_cases = Array.from({ length: TEST_CASES }, (_, index) => ({ input: `case ${index}`, expected_output: 'yes' }))
  const { id } = await post('/evaluations', { name: 'many', type: 'agent', target_id: agent.id, test_cases, concurrency: CONCURRENCY })
  const measureRun = async (when: string, least: number): Promise<Figure> => {
    const rate = await waitForRate(daemon, id as string, (await post(`/evaluations/${id}/run`)).run_id as string)
    return {
      name: `${TEST_CASES} test cases of ${replyMs} ms, concurrency ${CONCURRENCY}, ${when}, relative to a plain loop`,
      figure: `${rate.toFixed(0)}/s to ${bare.toFixed(0)}/s`,
      ratio: rate / bare,
      bar: { least },
    }
  }
  // The first run includes the compilation of its code. With fast responses that weighs more (decision 0025).
  return [await measureRun('first run', replyMs < 50 ? 0.7 : 0.8), await measureRun('second run', 0.8)]
}

/** Waits for the end of the run and returns its test cases per second. */
async function waitForRate(daemon: DaemonProcess, evaluation: string, run: string): Promise<number> {
  const path = `/api/evaluations/${evaluation}/runs/${run}`
  const findCompleted = async () => {
    const { data } = await request<{ data: { status: string; started_at: string; finished_at: string } }>(daemon, 'GET', path)
    return data.status === 'completed' && data
  }
  const { started_at, finished_at } = await waitFor(findCompleted, {
    intervalMs: 100,
    timeoutMs: 600_000,
    description: 'the end of the run',
  })
  return TEST_CASES / ((Date.parse(finished_at) - Date.parse(started_at)) / 1000)
}

/** Returns the calls per second of a plain loop. */
async function measureBareLoop(url: string): Promise<number> {
  const startedAt = performance.now()
  let next = 0
  const worker = async () => {
    while (next++ < TEST_CASES) await callProvider(url)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return TEST_CASES / ((performance.now() - startedAt) / 1000)
}

const callProvider = (url: string) =>
  new Promise<void>((resolve, reject) => {
    const body = JSON.stringify({ model: 'scripted', stream: true, messages: [{ role: 'user', content: 'case' }] })
    const request = httpRequest(
      `${url}/chat/completions`,
      { method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        response.resume().once('end', resolve)
      },
    )
    request.once('error', reject).end(body)
  })

const CHUNK = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'scripted' }

async function startProvider(replyMs: number): Promise<Server> {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const server = createServer(async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ role: 'assistant', content: 'ye' }))
    await pause(replyMs)
    response.write(chunk({ content: 's' }))
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
