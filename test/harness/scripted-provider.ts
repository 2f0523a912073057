/** A scripted provider on a local port, in the format of OpenAI, Anthropic or Google. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatEvents, type ProviderFormat, type ScriptedReply } from './provider-formats.ts'

export interface ReceivedRequest {
  path: string
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of requests
  body: any
  /** Resolves when the response is complete or the client disconnected. */
  closed: Promise<void>
}

/** Handles one request. */
export type Step = (response: ServerResponse, received: ReceivedRequest, format: ProviderFormat) => unknown

const startStream = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })

/** Streams a complete reply, which can be a function of the request. */
export const streamReply =
  (reply: ScriptedReply | ((received: ReceivedRequest) => ScriptedReply), intervalMs = 0): Step =>
  async (response, received, format) => {
    startStream(response)
    for (const event of formatEvents(format, typeof reply === 'function' ? reply(received) : reply)) {
      if (intervalMs > 0) await sleep(intervalMs)
      if (response.destroyed) return
      response.write(event)
    }
    response.end()
  }

export const streamText = (...text: string[]): Step => streamReply({ text })

/** Streams the first part, waits for `resume`, and streams the rest. */
export function streamInTwoParts(first: string, rest: string): { step: Step; resume(): void } {
  let resume = () => {}
  const resumed = new Promise<void>((resolve) => {
    resume = resolve
  })
  const step: Step = async (response, _, format) => {
    startStream(response)
    for (const event of formatEvents(format, { text: [first], finish: null })) response.write(event)
    await resumed
    for (const event of formatEvents(format, { text: [rest] }).slice(1)) response.write(event)
    response.end()
  }
  return { step, resume }
}

/** Responds with an error status, by default with a body in the provider's format. */
export const respondWithError =
  (status: number, body: unknown = undefined, headers: Record<string, string> = {}): Step =>
  (response, _, format) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? formatErrorBody(format, status))
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  }

export function formatErrorBody(format: ProviderFormat, status: number, message = `scripted error ${status}`): unknown {
  if (format === 'anthropic') return { type: 'error', error: { type: status === 529 ? 'overloaded_error' : 'api_error', message } }
  if (format === 'google') return { error: { code: status, message, status: status === 503 ? 'UNAVAILABLE' : 'INTERNAL' } }
  return { error: { message, type: 'server_error', param: null, code: null } }
}

/** Never responds. */
export const hang: Step = () => {}

/** Streams the text, then sends nothing and stays connected. */
export const stallAfter =
  (...text: string[]): Step =>
  (response, _, format) => {
    startStream(response)
    for (const event of formatEvents(format, { text, finish: null })) response.write(event)
  }

/** Streams the text, then closes the connection without ending the response. */
export const disconnectAfter =
  (...text: string[]): Step =>
  (response, _, format) => {
    startStream(response)
    response.write(formatEvents(format, { text, finish: null }).join(''), () => response.destroy())
  }

/** Streams the text, then ends the response without a finish reason. */
export const endEarlyAfter =
  (...text: string[]): Step =>
  (response, _, format) =>
    startStream(response).end(formatEvents(format, { text, finish: null }).join(''))

/** Responds with status 200 and this body. */
export const sendBody =
  (bytes: string, type = 'text/event-stream'): Step =>
  (response) =>
    response.writeHead(200, { 'content-type': type }).end(bytes)

/** Streams the text, then one byte per interval without end. */
export const trickle =
  (intervalMs: number, ...text: string[]): Step =>
  async (response, _, format) => {
    startStream(response)
    if (text.length > 0) response.write(formatEvents(format, { text, finish: null }).join(''))
    const bytes = formatEvents(format, { text: ['drop'.repeat(10_000)], finish: null }).join('')
    for (let index = 0; index < bytes.length && !response.destroyed; index++) {
      response.write(bytes[index] as string)
      await sleep(intervalMs)
    }
  }

export class ScriptedProvider {
  readonly format: ProviderFormat
  readonly received: ReceivedRequest[] = []
  /** Each step handles one request, the last one all further requests. */
  script: Step[]
  port = 0
  readonly #server: Server
  readonly #waiters: ((received: ReceivedRequest) => void)[] = []

  private constructor(format: ProviderFormat, script: Step[]) {
    this.format = format
    this.script = script
    this.#server = createServer(async (request, response) => {
      const closed = new Promise<void>((resolve) => response.once('close', resolve))
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const text = Buffer.concat(parts).toString()
      const received = { path: request.url ?? '', headers: request.headers, body: text === '' ? undefined : JSON.parse(text), closed }
      this.received.push(received)
      for (const resolve of this.#waiters.splice(0)) resolve(received)
      const step = this.script.length > 1 ? (this.script.shift() as Step) : (this.script[0] as Step)
      await step(response, received, format)
    })
  }

  static async start(format: ProviderFormat, ...script: [Step, ...Step[]]): Promise<ScriptedProvider> {
    const provider = new ScriptedProvider(format, script)
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve))
    provider.port = (provider.#server.address() as AddressInfo).port
    return provider
  }

  /** The endpoint of the model. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/${this.format === 'google' ? 'v1beta' : 'v1'}`
  }

  /** Fields of a model that uses this provider. */
  get model(): { provider: string; model_id: string; endpoint: string } {
    return { provider: this.format === 'openai' ? 'openai-compatible' : this.format, model_id: 'scripted', endpoint: this.url }
  }

  /** Resolves with the next request. */
  nextRequest(): Promise<ReceivedRequest> {
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }
}
