/** Duration of requests while ten thousand deliveries are pending, relative to the same requests with the webhook disabled. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { request, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'

const EVENTS = 10_000
const CONCURRENCY = 8
const ROUNDS = 7
const REQUESTS_PER_ROUND = 60
const SLOW_RECEIVER_MS = 1_000

interface Created {
  data: { id: string }
}

export const webhooks: Benchmark = {
  name: 'webhooks',
  run: () => withHome((home) => withDaemon(home, (daemon) => withReceiver((receiver) => measure(daemon, receiver)))),
}

interface Receiver {
  url: string
  delayMs: number
}

async function withReceiver<T>(work: (receiver: Receiver) => Promise<T>): Promise<T> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => setTimeout(() => response.writeHead(204).end(), receiver.delayMs))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, delayMs: SLOW_RECEIVER_MS }
  try {
    return await work(receiver)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function measure(daemon: DaemonProcess, receiver: Receiver): Promise<Figure[]> {
  const agent = (await request<Created>(daemon, 'POST', '/api/agents', { name: 'Helper' })).data.id
  const hook = { url: receiver.url, events: ['conversation.completed'], allow_private_network: true }
  const id = (await request<Created>(daemon, 'POST', '/api/webhooks', hook)).data.id
  const enable = (enabled: boolean) => request(daemon, 'PATCH', `/api/webhooks/${id}`, { enabled })
  await createEvents(daemon, agent)
  const figures: Figure[] = []
  for (const [name, delayMs] of [
    ['slow', SLOW_RECEIVER_MS],
    ['quick', 0],
  ] as const) {
    receiver.delayMs = delayMs
    const [idle, busy] = [
      { read: [] as number[], write: [] as number[] },
      { read: [] as number[], write: [] as number[] },
    ]
    // Alternates. The first round is a warm-up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [enabled, times] of [
        [false, idle],
        [true, busy],
      ] as const) {
        await enable(enabled)
        const medians = await measureRequests(daemon, agent)
        if (round === 0) continue
        times.read.push(medians.read)
        times.write.push(medians.write)
      }
    }
    const waiting = await countPending(daemon, id)
    for (const kind of ['read', 'write'] as const) {
      const ratio = median(busy[kind].map((time, round) => time / (idle[kind][round] as number)))
      const figure = `${formatMilliseconds(median(busy[kind]))} to ${formatMilliseconds(median(idle[kind]))}, ${waiting} pending`
      // The quick receiver has no bar: the daemon is fully busy then.
      figures.push({ name: `${kind} with a ${name} receiver`, figure, ratio, ...(name === 'slow' ? { bar: { most: 1.2 } } : {}) })
    }
  }
  return figures
}

async function createEvents(daemon: DaemonProcess, agent: string): Promise<void> {
  let left = EVENTS
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const { data } = await request<Created>(daemon, 'POST', '/api/conversations', { agent_id: agent })
      await request(daemon, 'POST', `/api/conversations/${data.id}/complete`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

async function measureRequests(daemon: DaemonProcess, agent: string): Promise<{ read: number; write: number }> {
  const times = { read: [] as number[], write: [] as number[] }
  const measureTime = async (kind: 'read' | 'write', work: () => Promise<unknown>) => {
    const startedAt = performance.now()
    await work()
    times[kind].push(performance.now() - startedAt)
  }
  for (let count = 0; count < REQUESTS_PER_ROUND; count++) {
    await measureTime('read', () => request(daemon, 'GET', `/api/agents/${agent}`))
    await measureTime('write', () => request(daemon, 'POST', '/api/conversations', { agent_id: agent }))
  }
  return { read: median(times.read), write: median(times.write) }
}

async function countPending(daemon: DaemonProcess, id: string): Promise<number> {
  const { pagination } = await request<{ pagination: { total: number } }>(
    daemon,
    'GET',
    `/api/webhooks/${id}/deliveries?status=pending&limit=1`,
  )
  return pagination.total
}
