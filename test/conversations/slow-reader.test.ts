import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SocketQueues } from '../../daemon/http/socket-queues.ts'
import { withTimeoutFactor } from '../harness/clocks/timeout-factor.ts'
import { reportFailure } from '../harness/hooks.ts'
import { formatEvents } from '../harness/provider-formats.ts'
import { ScriptedProvider, type Step, streamReply, streamText } from '../harness/scripted-provider.ts'
import { ADMIN_TOKEN, type Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('slow readers')
const isLinux = process.platform === 'linux'
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === 'IPv6'))
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

const streamEndlessly: Step = async (response, _, wire) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const [, event] = formatEvents(wire, { text: ['word '.repeat(200)], finish: null }) as [string, string]
  const closed = once(response, 'close')
  while (!response.destroyed)
    if (!response.write(event)) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed])
}

/** Requests a stream and does not read it. */
async function sendAndStop(id: string): Promise<Socket> {
  const { hostname, port, host } = new URL(fixture.url)
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
  socket.on('error', () => {}) // the server closes the connection
  return socket
}

/** Sends a message without reading its reply. Returns the stored reply when the model call has ended. */
async function abandonReply(model: Step): Promise<Json> {
  const writer = await ScriptedProvider.start('openai', model)
  const id = await fixture.startConversation(writer)
  const arrival = writer.nextRequest()
  const socket = await sendAndStop(id)
  await (await arrival).closed
  const reply = await waitFor(async () => {
    const last = (await fixture.listMessages(id)).at(-1)
    return last?.finish_reason !== undefined && last
  })
  socket.destroy()
  await writer.close()
  return reply
}

test('a client that stops reading is disconnected, and its model call is aborted', async () => {
  const reply = await withTimeoutFactor(0.2, () => abandonReply(streamEndlessly))
  assert.is(reply.finish_reason, 'aborted')
  if (isLinux) assert.ok(reply.content.length < 500_000, `${reply.content.length} characters`)
})

// Only Linux reports the unread bytes of a socket.
const linuxTest = isLinux ? test : test.skip

linuxTest('a client that stops reading a slow reply is disconnected', async () => {
  const words = streamReply({ text: Array.from({ length: 100_000 }, () => 'word ') }, 100)
  const reply = await withTimeoutFactor(0.2, () => abandonReply(words))
  assert.is(reply.finish_reason, 'aborted')
})

test('a slow reader gets the complete reply', async () => {
  const text = Array.from({ length: 400 }, (_, at) => `${at} ${'word '.repeat(400)}`)
  provider.script = [streamText(...text)]
  const id = await fixture.startConversation(provider)
  const stream = await fixture.stream(id, 'Hi')
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
  (isLinux && (hasIpv6 || !host.includes(':')) ? test : test.skip)(
    `unread bytes are known for a reader at ${address} connected to ${host}`,
    async () => {
      const server = createServer().listen(0, host)
      await once(server, 'listening')
      const { port } = server.address() as { port: number }
      const accepted = once(server, 'connection') as Promise<[Socket]>
      const reader = connect(port, address).pause()
      const [writer] = await accepted
      const unread = new SocketQueues()
      assert.is((await unread.getUnreadBytes(writer)) ?? 0, 0)
      writer.write('x'.repeat(1_000))
      await waitFor(async () => (await unread.getUnreadBytes(writer)) === 1_000)
      writer.write('x'.repeat(3_000_000))
      await waitFor(async () => ((await unread.getUnreadBytes(writer)) ?? 0) + writer.writableLength === 3_001_000)
      reader.resume()
      await waitFor(async () => ((await unread.getUnreadBytes(writer)) ?? 0) === 0 && writer.writableLength === 0)
      reader.destroy()
      server.close()
    },
  )

test.run()
