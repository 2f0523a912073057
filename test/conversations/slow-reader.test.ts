import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SocketQueues } from '../../daemon/http/socket-queues.ts'
import { aloud } from '../harness/hooks.ts'
import { formatEvents } from '../harness/provider-formats.ts'
import { ScriptedProvider, type Step, streamReply, streamText } from '../harness/scripted-provider.ts'
import { ADMIN_TOKEN, type Json } from '../harness/test-server.ts'
import { waitFor } from '../knowledge/knowledge-fixture.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('slow readers')
let parlour: ConversationFixture
let provider: ScriptedProvider

test.before(
  aloud(async () => {
    parlour = await ConversationFixture.open()
    provider = await ScriptedProvider.start('openai', streamText('x'))
  }),
)
test.after(aloud(() => Promise.all([parlour.close(), provider.close()])))

/** Writes for as long as anybody takes it. */
const endless: Step = async (response, _, wire) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const [, event] = formatEvents(wire, { text: ['word '.repeat(200)], finish: null }) as [string, string]
  const closed = once(response, 'close')
  while (!response.destroyed)
    if (!response.write(event)) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed])
}

/** Asks for a stream and reads nothing of it. */
async function sendAndStop(id: string): Promise<Socket> {
  const { hostname, port, host } = new URL(parlour.url)
  const socket = connect(Number(port), hostname)
  socket.pause()
  const body = JSON.stringify({ message: 'Go on', stream: true })
  const head = [
    `POST /api/conversations/${id}/messages HTTP/1.1`,
    `host: ${host}`,
    `authorization: Bearer ${ADMIN_TOKEN}`,
    'content-type: application/json',
  ]
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  socket.on('error', () => {}) // it is cut off, which is what is tested
  return socket
}

/** Sends to a model that writes like this and reads nothing of it: after how many seconds the call of the model ended, and what there is of the reply. */
async function abandoned(model: Step): Promise<{ seconds: number; reply: Json }> {
  const writer = await ScriptedProvider.start('openai', model)
  const id = await parlour.startConversation(writer)
  const arrival = writer.nextRequest()
  const began = performance.now()
  const socket = await sendAndStop(id)
  await (await arrival).closed
  const seconds = (performance.now() - began) / 1000
  const reply = await waitFor(async () => {
    const last = (await parlour.listMessages(id)).at(-1)
    return last?.finish_reason !== undefined && last
  })
  socket.destroy()
  await writer.close()
  return { seconds, reply }
}

test('one that stops reading costs little, and the call of its model is ended', async () => {
  const { seconds, reply } = await abandoned(endless)
  assert.is(reply.finish_reason, 'aborted')
  if (process.platform === 'linux') assert.ok(reply.content.length < 500_000, `${reply.content.length} characters`)
  assert.ok(seconds > 15 && seconds < 30, `ended after ${seconds} s`)
})

test('so it is when the model writes so slowly that the kernels could hold all of it', async () => {
  if (process.platform !== 'linux') return // elsewhere nobody knows what they hold
  const { seconds, reply } = await abandoned(streamReply({ text: Array.from({ length: 1_000 }, () => 'word ') }, 100))
  assert.is(reply.finish_reason, 'aborted')
  assert.ok(seconds > 15 && seconds < 30, `ended after ${seconds} s`)
})

test('one that reads slowly gets all of it', async () => {
  const text = Array.from({ length: 400 }, (_, at) => `${at} ${'word '.repeat(400)}`)
  provider.script = [streamText(...text)]
  const id = await parlour.startConversation(provider)
  const stream = await parlour.stream(id, 'Hi')
  for (let count = 0; count < 20; count++) {
    await stream.next()
    await pause(20)
  }
  const events = await stream.readAll()
  assert.is(events.at(-1)?.event, 'message_end')
  assert.is(stream.replyText, text.join(''))
})

for (const [host, address] of [
  ['127.0.0.1', '127.0.0.1'],
  ['::', '127.0.0.1'],
  ['::1', '::1'],
] as const)
  test(`the kernel knows what a reader at ${address} has not taken from ${host}`, async () => {
    const server = createServer()
    const listening = await new Promise<boolean>((resolve) =>
      server.once('error', () => resolve(false)).listen(0, host, () => resolve(true)),
    )
    if (!listening) return // a machine without IPv6
    const { port } = server.address() as { port: number }
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const reader = connect(port, address).pause()
    const [writer] = await accepted
    const unread = new SocketQueues()
    assert.is((await unread.getUnreadBytes(writer)) ?? 0, 0)
    writer.write('x'.repeat(1_000))
    if (process.platform === 'linux') await waitFor(async () => (await unread.getUnreadBytes(writer)) === 1_000)
    writer.write('x'.repeat(3_000_000))
    if (process.platform === 'linux')
      await waitFor(async () => ((await unread.getUnreadBytes(writer)) ?? 0) + writer.writableLength === 3_001_000)
    reader.resume()
    await waitFor(async () => ((await unread.getUnreadBytes(writer)) ?? 0) === 0 && writer.writableLength === 0)
    reader.destroy()
    server.close()
  })

test.run()
