/** Conversations with the scripted model through the daemon. */
import { spawn } from 'node:child_process'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import { EventDecoder } from '../../src/sse.ts'
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { request, TOKEN, waitForAddress } from './daemon.ts'

const PROVIDER = fileURLToPath(new URL('scripted-provider.js', import.meta.url))

export interface ReplyTask {
  name: string
  tokens: number
  everyMs: number
}

/** Returns the text that the model writes for a task. */
export const createExpectedText = ({ name, tokens }: ReplyTask): string =>
  Array.from({ length: tokens }, (_, token) => ` ${name}-${token}`).join('')

export interface StreamedReply {
  text: string
  firstMs: number
  totalMs: number
  end: string
}

export async function withProvider<T>(work: (url: string) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, [PROVIDER], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    return await work(await waitForAddress(child))
  } finally {
    child.kill()
  }
}

/** Creates an agent that uses the scripted model. */
export async function createAgent(daemon: DaemonProcess, endpoint: string): Promise<string> {
  const create = async (path: string, body: object) =>
    (await request<{ data: { id: string } }>(daemon, 'POST', `/api/${path}`, body)).data.id
  const model_id = await create('models', { name: 'Scripted', provider: 'openai-compatible', model_id: 'scripted', endpoint })
  return create('agents', { name: 'Talker', model_id })
}

export async function createConversation(daemon: DaemonProcess, agent_id: string): Promise<string> {
  return (await request<{ data: { id: string } }>(daemon, 'POST', '/api/conversations', { agent_id })).data.id
}

const connections = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

export async function streamReply(daemon: { url: string }, conversation: string, task: ReplyTask): Promise<StreamedReply> {
  const url = `${daemon.url}/api/conversations/${conversation}/messages`
  return streamText(url, { message: JSON.stringify(task), stream: true }, (event, data) =>
    event === 'message_delta' ? (data as { text: string }).text : '',
  )
}

/** Streams a chat completion in OpenAI's format. */
export async function streamCompletion(daemon: DaemonProcess, agent: string, task: ReplyTask): Promise<StreamedReply> {
  const messages = [{ role: 'user', content: JSON.stringify(task) }]
  const reply = await streamText(`${daemon.url}/v1/chat/completions`, { model: agent, messages, stream: true }, (_, data) => {
    const [choice] = (data as { choices: { delta: { content?: string } }[] }).choices
    return choice?.delta.content ?? ''
  })
  return reply.end === 'message' ? { ...reply, end: 'message_end' } : reply
}

async function streamText(url: string, request: object, getText: (event: string, data: unknown) => string): Promise<StreamedReply> {
  const startedAt = performance.now()
  const body = JSON.stringify(request)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    httpRequest(url, { method: 'POST', headers, agent: connections }, resolve).on('error', reject).end(body)
  })
  const decoder = new EventDecoder()
  const reply: StreamedReply = { text: '', firstMs: 0, totalMs: 0, end: `status ${response.statusCode}` }
  for await (const piece of response.setEncoding('utf8')) {
    for (const { event, data } of decoder.push(piece as string)) {
      reply.end = event
      const text = data === '[DONE]' ? '' : getText(event, JSON.parse(data))
      if (reply.text === '' && text !== '') reply.firstMs = performance.now() - startedAt
      reply.text += text
    }
  }
  reply.totalMs = performance.now() - startedAt
  return reply
}
