import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DaemonProcess, startDaemon, TOKEN } from '../harness/daemon.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { Receiver } from './receiver.ts'

const test = suite<{ home: string; receiver: Receiver; daemon: DaemonProcess }>('webhooks: kill -9')

test.before.each(
  reportFailure(async (context) => {
    context.home = join(mkdtempSync(join(tmpdir(), 'cadre-webhooks-')), 'home')
    context.receiver = await Receiver.start()
    context.daemon = await startDaemon(context.home, { token: TOKEN })
  }),
)
test.after.each(
  reportFailure(async ({ home, receiver, daemon }) => {
    await daemon.stop()
    await receiver.close()
    rmSync(home, { recursive: true, force: true })
  }),
)

async function call({ url }: DaemonProcess, method: string, path: string, body?: object): Promise<Json> {
  const headers = { authorization: `Bearer ${TOKEN}`, ...(body ? { 'content-type': 'application/json' } : {}) }
  const reply = await fetch(`${url}/api${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  const text = await reply.text()
  assert.ok(reply.ok, text)
  return JSON.parse(text).data
}

async function conversations(daemon: DaemonProcess, many: number): Promise<Json[]> {
  const agent = await call(daemon, 'POST', '/agents', { name: 'Helper' })
  const made: Json[] = []
  for (let n = 0; n < many; n++) made.push(await call(daemon, 'POST', '/conversations', { agent_id: agent.id }))
  return made
}

test('every event is delivered although the daemon is killed during deliveries', async (context) => {
  const { receiver, home } = context
  const hook = await call(context.daemon, 'POST', '/webhooks', {
    url: receiver.url,
    events: ['conversation.completed'],
    allow_private_network: true,
  })
  const made = await conversations(context.daemon, 30)
  // The receiver responds to the first deliveries and then hangs, so four attempts are in progress when the daemon is killed.
  receiver.answer = (reply, _, count) => (count <= 10 ? reply.writeHead(204).end() : undefined)
  for (const { id } of made) await call(context.daemon, 'POST', `/conversations/${id}/complete`)
  await receiver.count(14)
  await context.daemon.kill()
  receiver.answer = (reply) => reply.writeHead(204).end()
  context.daemon = await startDaemon(home, { token: TOKEN })
  const listDelivered = () => call(context.daemon, 'GET', `/webhooks/${hook.id}/deliveries?status=delivered&limit=100`)
  await waitFor(async () => (await listDelivered()).length === 30, { description: '30 deliveries' })
  const told = new Map(receiver.received.map(({ id, body }) => [id, JSON.parse(body).data.conversation_id]))
  assert.equal([...told.values()].sort(), made.map(({ id }) => id).sort())
  // Deliveries whose outcome was not stored arrive twice, with the same id.
  assert.ok(receiver.received.length >= 34 && receiver.received.length <= 38, `${receiver.received.length} attempts`)
})

test.run()
