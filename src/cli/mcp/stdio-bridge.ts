/** Serves MCP over stdin and stdout by passing each message to the daemon, which implements the protocol. */
import { UnreachableError } from '../../client/errors.ts'
import { type ClientResponse, type Connection, sendRequest } from '../../client/request.ts'
import { MCP_PATH } from '../../contract/mcp-path.ts'
import { decodeEvents } from '../../sse.ts'
import { createMcpHeaders, type McpMessage, type McpSession } from './mcp-headers.ts'

const PARSE_ERROR = -32_700
const INTERNAL_ERROR = -32_603

interface BridgeOptions {
  /** Connects to the daemon and starts it if necessary. Called again if the connection is lost. */
  connect(): Promise<Connection>
  write(line: string): void
}

export class StdioBridge {
  readonly #options: BridgeOptions
  readonly #running = new Map<string, AbortController>()
  readonly #session: McpSession = { id: undefined, version: undefined }
  #connection: Promise<Connection> | undefined

  constructor(options: BridgeOptions) {
    this.#options = options
  }

  /** Answers the messages until the input ends and the last one is answered. */
  async serve(lines: AsyncIterable<string>): Promise<void> {
    await this.#connect()
    const pending = new Set<Promise<void>>()
    for await (const line of lines) {
      if (line.trim() === '') continue
      const answered = this.#handleLine(line).finally(() => pending.delete(answered))
      pending.add(answered)
    }
    await Promise.all(pending)
  }

  async #handleLine(line: string): Promise<void> {
    let message: McpMessage
    try {
      message = JSON.parse(line)
    } catch {
      return this.#write({ jsonrpc: '2.0', id: null, error: { code: PARSE_ERROR, message: 'The message is not valid JSON.' } })
    }
    if (message?.method === 'notifications/cancelled') return this.#cancel(message.params?.requestId)
    await this.#forward(message, line)
  }

  /** Over HTTP a request is cancelled by closing its connection. */
  #cancel(id: unknown): void {
    this.#running.get(JSON.stringify(id))?.abort()
  }

  async #forward(message: McpMessage, body: string): Promise<void> {
    const id = message?.id
    const key = JSON.stringify(id)
    const controller = new AbortController()
    if (id !== undefined) this.#running.set(key, controller)
    try {
      const isAnswered = await this.#send(message, body, controller.signal)
      if (id !== undefined && !isAnswered)
        throw new UnreachableError('The connection to the daemon was lost before the answer was complete.')
    } catch (error) {
      // A cancelled request is not answered.
      if (id === undefined || controller.signal.aborted) return
      const { message: text, hint } = error as Error & { hint?: string }
      this.#write({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: [text, hint].filter(Boolean).join(' ') } })
    } finally {
      if (this.#running.get(key) === controller) this.#running.delete(key)
    }
  }

  /** Returns whether the message was answered. */
  async #send(message: McpMessage, body: string, signal: AbortSignal): Promise<boolean> {
    const request = { method: 'POST', path: MCP_PATH, headers: createMcpHeaders(message, this.#session), body, signal }
    let response: ClientResponse
    try {
      response = await sendRequest(await this.#connect(), request)
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error
      // The daemon was restarted: it may listen at another port.
      this.#connection = undefined
      response = await sendRequest(await this.#connect(), request)
    }
    if (message.method === 'initialize') this.#session.id = response.headers['mcp-session-id'] as string | undefined
    const isStream = response.headers['content-type']?.startsWith('text/event-stream')
    let isAnswered = false
    for await (const answer of isStream ? readStream(response) : readBody(response, message)) {
      if (message.method === 'initialize') this.#session.version ??= answer.result?.protocolVersion
      isAnswered ||= answer.method === undefined
      this.#write(answer)
    }
    return isAnswered
  }

  #connect(): Promise<Connection> {
    this.#connection ??= this.#options.connect()
    return this.#connection
  }

  #write(message: object): void {
    this.#options.write(`${JSON.stringify(message)}\n`)
  }
}

async function* readStream({ body }: ClientResponse): AsyncGenerator<McpMessage> {
  for await (const { data } of decodeEvents(body)) if (data !== '') yield JSON.parse(data)
}

/** Errors of the daemon before MCP, such as a missing token, have another format. */
async function* readBody(response: ClientResponse, { id }: McpMessage): AsyncGenerator<McpMessage> {
  const text = await response.text()
  if (text === '' || id === undefined) return
  const answer = JSON.parse(text)
  if (Array.isArray(answer)) yield* answer
  else if (answer.jsonrpc === '2.0') yield { ...answer, id: answer.id ?? id }
  else yield { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: [answer.error, answer.hint].filter(Boolean).join(' ') } }
}

/** Splits text into lines. A line end can be split between two chunks. */
export async function* readLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of input) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
