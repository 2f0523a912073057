/** Test fixture: a server on a real port, agents with a scripted model and replies that are read event by event. */
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ReplyEvent, ReplyEventName } from '../../src/contract/reply-events.ts'
import { EventDecoder } from '../../src/sse.ts'
import { expectData } from '../harness/expect.ts'
import { Resources, uniqueName } from '../harness/resources.ts'
import { ScriptedProvider, streamText } from '../harness/scripted-provider.ts'
import { ADMIN_TOKEN, type Json, TestServer, type TestServerOptions } from '../harness/test-server.ts'

type Fields = Record<string, unknown>

export class ConversationFixture {
  readonly service: TestServer
  readonly resources: Resources
  readonly url: string

  private constructor(service: TestServer, url: string) {
    this.service = service
    this.resources = new Resources(service)
    this.url = url
  }

  static async open(options?: TestServerOptions): Promise<ConversationFixture> {
    const service = await TestServer.start(options)
    await service.app.server.listen({ host: '127.0.0.1', port: 0 })
    const url = `http://127.0.0.1:${(service.app.server.server.address() as AddressInfo).port}`
    service.app.listening(url)
    service.host = new URL(url).host
    return new ConversationFixture(service, url)
  }

  /** Opens a fixture and a scripted provider, which replies "x" until a test sets its script. */
  static async openWithProvider(options?: TestServerOptions): Promise<[ConversationFixture, ScriptedProvider]> {
    return Promise.all([ConversationFixture.open(options), ScriptedProvider.start('openai', streamText('x'))])
  }

  close = () => this.service.close()

  /** Restarts the server with the same home. */
  async restart(): Promise<ConversationFixture> {
    return ConversationFixture.open({ home: await this.service.stop() })
  }

  /** Creates an agent whose model is the scripted provider. */
  async createAgent(provider: ScriptedProvider, fields: Fields = {}, model: Fields = {}): Promise<Json> {
    const { id } = await this.resources.model({
      ...provider.model,
      name: uniqueName('scripted'),
      pricing: { input: 0.5, output: 1.5 },
      ...model,
    })
    return this.resources.agent({ model_id: id, system_prompt: 'Be brief.', ...fields })
  }

  async createConversation(agent: Json, fields: Fields = {}): Promise<string> {
    return (await this.resources.conversation({ agent_id: agent.id, ...fields })).id
  }

  /** Creates an agent and a conversation with it. */
  async startConversation(provider: ScriptedProvider, fields: Fields = {}, model: Fields = {}): Promise<string> {
    return this.createConversation(await this.createAgent(provider, fields, model))
  }

  send = (id: string, message: string, more: Fields = {}) => this.service.post(`/conversations/${id}/messages`, { message, ...more })
  sendAndWait = (id: string, message: string): Promise<Json> => expectData(this.send(id, message))
  listMessages = async (id: string): Promise<Json[]> => (await expectData(this.service.get(`/conversations/${id}`))).messages

  /** Sends a message and follows its reply. */
  stream = (id: string, message: string, more: Fields = {}, headers: Record<string, string> = {}): Promise<ReplyStream> =>
    this.open(`/api/conversations/${id}/messages`, { message, stream: true, ...more }, headers)

  follow = (id: string, messageId: string, headers: Record<string, string> = {}): Promise<ReplyStream> =>
    this.open(`/api/conversations/${id}/messages/${messageId}/events`, undefined, headers)

  async open(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ReplyStream> {
    const sent = request(`${this.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json', ...headers },
      agent: false,
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return new ReplyStream(sent, response)
  }
}

/** The response of a streaming request. */
export class ReplyStream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly raw: IncomingMessage
  readonly events: ReplyEvent[] = []
  readonly comments: string[] = []
  readonly #request: ClientRequest
  readonly #source: AsyncIterator<string>
  readonly #decoder = new EventDecoder()
  #position = 0
  rawText = ''

  constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request
    this.raw = response
    this.status = response.statusCode ?? 0
    this.headers = response.headers
    this.#source = response.setEncoding('utf8')[Symbol.asyncIterator]()
  }

  /** Returns the next event, undefined at the end. */
  async next(): Promise<ReplyEvent | undefined> {
    while (this.#position >= this.events.length) {
      const { done, value } = await this.#source.next()
      if (done) return undefined
      this.rawText += value
      for (const { event, data, id } of this.#decoder.push(value))
        this.events.push({ event, data: JSON.parse(data), id } as unknown as ReplyEvent)
    }
    return this.events[this.#position++]
  }

  /** Reads until the first event of that name. */
  async readUntil<Name extends ReplyEventName>(name: Name): Promise<Extract<ReplyEvent, { event: Name }>> {
    for (let event = await this.next(); event; event = await this.next())
      if (event.event === name) return event as Extract<ReplyEvent, { event: Name }>
    throw new Error(`there was no ${name}: ${JSON.stringify(this.events).slice(0, 1000)}`)
  }

  /** Reads all events. */
  async readAll(): Promise<ReplyEvent[]> {
    while (await this.next()) {}
    return this.events
  }

  /** Reads a response that is not a stream. */
  async readBody(): Promise<Json> {
    while (await this.next()) {}
    return JSON.parse(this.rawText)
  }

  get replyText(): string {
    return this.events.flatMap(({ event, data }) => (event === 'message_delta' ? [data.text] : [])).join('')
  }

  get eventNames(): string[] {
    return this.events.map(({ event }) => event).filter((name, at, all) => name !== 'message_delta' || all[at - 1] !== name)
  }

  disconnect(): void {
    this.#request.destroy()
  }
}
