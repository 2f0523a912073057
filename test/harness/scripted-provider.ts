/** A provider of models on this machine that answers as the test says, in the wire format of OpenAI, Anthropic or Google. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { formatEvents, type ProviderFormat, type ScriptedReply } from './provider-formats.ts'

export interface ReceivedRequest {
  path: string
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what was sent
  body: any
  /** Settles when whoever asked is gone or has the whole answer. */
  closed: Promise<void>
}

/** What the provider does with one request. */
export type Step = (response: ServerResponse, received: ReceivedRequest, wire: ProviderFormat) => unknown

const begun = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })

/** A whole turn; a function makes it from the request. */
export const streamReply =
  (turn: ScriptedReply | ((received: ReceivedRequest) => ScriptedReply), everyMs = 0): Step =>
  async (response, received, wire) => {
    begun(response)
    for (const event of formatEvents(wire, typeof turn === 'function' ? turn(received) : turn)) {
      if (everyMs > 0) await pause(everyMs)
      if (response.destroyed) return
      response.write(event)
    }
    response.end()
  }

export const streamText = (...text: string[]): Step => streamReply({ text })

/** An error status, with a body in the provider's shape unless the test has its own. */
export const respondWithError =
  (status: number, body: unknown = undefined, headers: Record<string, string> = {}): Step =>
  (response, _, wire) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? formatErrorBody(wire, status))
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  }

export function formatErrorBody(wire: ProviderFormat, status: number, message = `scripted refusal ${status}`): unknown {
  if (wire === 'anthropic') return { type: 'error', error: { type: status === 529 ? 'overloaded_error' : 'api_error', message } }
  if (wire === 'google') return { error: { code: status, message, status: status === 503 ? 'UNAVAILABLE' : 'INTERNAL' } }
  return { error: { message, type: 'server_error', param: null, code: null } }
}

/** Takes the request and never says a word. */
export const hang: Step = () => {}

/** Says this much, with every sign that more will follow, and then nothing. */
export const stallAfter =
  (...text: string[]): Step =>
  (response, _, wire) => {
    begun(response)
    for (const event of formatEvents(wire, { text, finish: null })) response.write(event)
  }

/** Says this much, and the connection is gone. */
export const disconnectAfter =
  (...text: string[]): Step =>
  (response, _, wire) => {
    begun(response)
    response.write(formatEvents(wire, { text, finish: null }).join(''), () => response.destroy())
  }

/** Says this much and ends in good order, without having finished. */
export const endEarlyAfter =
  (...text: string[]): Step =>
  (response, _, wire) =>
    begun(response).end(formatEvents(wire, { text, finish: null }).join(''))

/** Sends just these bytes with status 200. */
export const sendBody =
  (bytes: string, type = 'text/event-stream'): Step =>
  (response) =>
    response.writeHead(200, { 'content-type': type }).end(bytes)

/** Says this much, and then one byte at a time, for ever. */
export const trickle =
  (everyMs: number, ...text: string[]): Step =>
  async (response, _, wire) => {
    begun(response)
    if (text.length > 0) response.write(formatEvents(wire, { text, finish: null }).join(''))
    const bytes = formatEvents(wire, { text: ['drop'.repeat(10_000)], finish: null }).join('')
    for (let at = 0; at < bytes.length && !response.destroyed; at++) {
      response.write(bytes[at] as string)
      await pause(everyMs)
    }
  }

export class ScriptedProvider {
  readonly wire: ProviderFormat
  readonly received: ReceivedRequest[] = []
  /** Each step is used once, the last one for ever. */
  script: Step[]
  port = 0
  readonly #server: Server
  readonly #arrivals: ((received: ReceivedRequest) => void)[] = []

  private constructor(wire: ProviderFormat, script: Step[]) {
    this.wire = wire
    this.script = script
    this.#server = createServer(async (request, response) => {
      const closed = new Promise<void>((resolve) => response.once('close', resolve))
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const text = Buffer.concat(parts).toString()
      const received = { path: request.url ?? '', headers: request.headers, body: text === '' ? undefined : JSON.parse(text), closed }
      this.received.push(received)
      for (const arrived of this.#arrivals.splice(0)) arrived(received)
      const step = this.script.length > 1 ? (this.script.shift() as Step) : (this.script[0] as Step)
      await step(response, received, wire)
    })
  }

  static async start(wire: ProviderFormat, ...script: [Step, ...Step[]]): Promise<ScriptedProvider> {
    const provider = new ScriptedProvider(wire, script)
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve))
    provider.port = (provider.#server.address() as AddressInfo).port
    return provider
  }

  /** What a model's record says as its endpoint. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/${this.wire === 'google' ? 'v1beta' : 'v1'}`
  }

  /** The fields of a model that is asked here. */
  get model(): { provider: string; model_id: string; endpoint: string } {
    return { provider: this.wire === 'openai' ? 'openai-compatible' : this.wire, model_id: 'scripted', endpoint: this.url }
  }

  /** The next request, once it is there. */
  nextRequest(): Promise<ReceivedRequest> {
    return new Promise((resolve) => this.#arrivals.push(resolve))
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }
}
