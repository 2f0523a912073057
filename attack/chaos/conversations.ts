/** Chats with messages that are streamed or not, and with conversations that are completed. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ServerEvent } from '../../src/sse.ts'
import type { Json } from '../../test/harness/test-server.ts'
import type { ChaosClient } from './client.ts'

const MESSAGES = 3
/** A stream that is resumed again and again must end. */
const STREAM_TIMEOUT_MS = 90_000
const TERMINAL_EVENTS = ['message_end', 'error']

interface Message {
  text: string
  /** The acknowledged reply. */
  replyId?: string
}

interface Conversation {
  id: string
  messages: Message[]
  isCompleted: boolean
}

export const formatReply = (text: string): string => `You said: ${text}`

export class Conversations {
  readonly #client: ChaosClient
  readonly #agentId: string
  readonly #random: () => number
  readonly all: Conversation[] = []
  readonly problems: string[] = []
  streams = 0
  resumes = 0
  /** Streams that ended with an error, because their daemon was killed. */
  interrupted = 0
  #count = 0

  constructor(client: ChaosClient, agentId: string, random: () => number) {
    this.#client = client
    this.#agentId = agentId
    this.#random = random
  }

  get replies(): number {
    return this.all.flatMap(({ messages }) => messages).filter(({ replyId }) => replyId !== undefined).length
  }

  /** Has one conversation. */
  async run(): Promise<void> {
    const name = `conversation-${this.#count++}`
    const { id } = await this.#client.post('/conversations', { agent_id: this.#agentId, title: name }, name)
    const conversation: Conversation = { id, messages: [], isCompleted: false }
    this.all.push(conversation)
    for (let index = 0; index < MESSAGES; index++) {
      const message: Message = { text: `${name}-message-${index}` }
      conversation.messages.push(message)
      const isStreamed = this.#random() < 0.5
      if (isStreamed) await this.#stream(id, message.text)
      // After a stream, this returns its reply, or answers again if the reply was interrupted.
      const body = { message: message.text, wait: true, ...(isStreamed ? { retry: true } : {}) }
      const reply = await this.#client.post(`/conversations/${id}/messages`, body, `${message.text}-complete`)
      if (reply.content !== formatReply(message.text)) this.problems.push(`the reply to "${message.text}" is "${reply.content}"`)
      message.replyId = reply.id
    }
    await this.#client.post(`/conversations/${id}/complete`, undefined, `${name}-complete`)
    conversation.isCompleted = true
  }

  /** Streams a reply, and resumes it after each lost connection through another daemon until it ends. */
  async #stream(id: string, text: string): Promise<void> {
    this.streams++
    const events: ServerEvent[] = []
    const path = `/conversations/${id}/messages`
    const isEnded = () => events.some(({ event }) => TERMINAL_EVENTS.includes(event))
    for (const deadline = Date.now() + STREAM_TIMEOUT_MS; !isEnded(); await pause(100)) {
      if (Date.now() > deadline) {
        this.problems.push(`the stream of "${text}" did not end: ${summarize(events)}`)
        return
      }
      const messageId = events[0] && (JSON.parse(events[0].data) as Json).message_id
      if (messageId !== undefined) this.resumes++
      const request =
        messageId === undefined
          ? { method: 'POST', path, body: { message: text, wait: true, stream: true }, key: text }
          : { method: 'GET', path: `${path}/${messageId}/events`, headers: { 'last-event-id': events.at(-1)?.id ?? '' } }
      for await (const event of this.#client.stream(request)) events.push(event)
    }
    this.#check(text, events)
  }

  #check(text: string, events: readonly ServerEvent[]): void {
    const ends = events.filter(({ event }) => TERMINAL_EVENTS.includes(event))
    const describe = (problem: string) => this.problems.push(`the stream of "${text}" ${problem}: ${summarize(events)}`)
    if (events[0]?.event !== 'message_start') describe('does not begin with message_start')
    if (ends.length !== 1 || ends[0] !== events.at(-1)) describe(`has ${ends.length} terminal events`)
    if (events.some(({ id }, index) => index > 0 && Number(id) <= Number(events[index - 1]?.id))) describe('has ids out of order')
    const end = events.at(-1)
    if (end?.event === 'error') this.interrupted++
    else if (end && (JSON.parse(end.data) as Json).message.content !== formatReply(text)) describe('ends with another text')
    const deltas = events.filter(({ event }) => event === 'message_delta').map(({ data }) => (JSON.parse(data) as Json).text)
    if (!formatReply(text).startsWith(deltas.join(''))) describe(`has the text "${deltas.join('')}"`)
  }
}

const summarize = (events: readonly ServerEvent[]): string => events.map(({ id, event }) => `${id} ${event}`).join(', ')
