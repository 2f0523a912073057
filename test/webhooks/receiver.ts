/** A local webhook receiver that records requests and responds as the test specifies. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitFor } from '../harness/wait-for.ts'

export interface Received {
  headers: Record<string, string>
  body: string
  id: string
  /** Arrival time by the test's clock. */
  at: number
}

export type Answering = (reply: ServerResponse, received: Received, count: number) => void

export class Receiver {
  readonly received: Received[] = []
  answer: Answering
  readonly #server = createServer()

  private constructor(answer: Answering, now: () => number) {
    this.answer = answer
    this.#server.on('request', async (request, reply) => {
      let body = ''
      for await (const part of request.setEncoding('utf8')) body += part
      const headers = flat(request.headers)
      const received = { headers, body, id: headers['webhook-id'] ?? '', at: now() }
      this.received.push(received)
      this.answer(reply, received, this.received.length)
    })
  }

  static async start(answer: Answering = (reply) => reply.writeHead(204).end(), now: () => number = Date.now): Promise<Receiver> {
    const receiver = new Receiver(answer, now)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`
  }

  /** Waits until this many requests have arrived. */
  async count(wanted: number): Promise<Received[]> {
    await waitFor(() => this.received.length >= wanted, { description: `${wanted} requests`, intervalMs: 1 })
    return this.received
  }

  async close(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }
}

const flat = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
