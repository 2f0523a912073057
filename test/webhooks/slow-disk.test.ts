import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { PausableDisk } from '../harness/pausable-disk.ts'
import { TestServer } from '../harness/test-server.ts'
import { Receiver } from './receiver.ts'
import { completeConversation, createWebhook, listDeliveries } from './webhook-fixture.ts'

const test = suite('webhooks: slow disk')
const disk = new PausableDisk()
let service: TestServer
let receiver: Receiver

test.before(
  reportFailure(async () => {
    service = await TestServer.start({ disk: disk.open })
    receiver = await Receiver.start()
  }),
)
test.after.each(() => disk.release())
test.after(reportFailure(() => Promise.all([service.close(), receiver.close()])))

test('redelivery during the storing of an attempt makes another attempt and returns its outcome', async () => {
  const hook = await createWebhook(service, receiver.url)
  let fail = () => {}
  receiver.answer = (reply, _, count) => {
    if (count > 1) reply.writeHead(204).end()
    else fail = () => reply.writeHead(500).end()
  }
  await completeConversation(service)
  await receiver.count(1)
  const [{ id }] = await listDeliveries(service, hook)
  disk.hold()
  const changed = expectData(service.patch(`/webhooks/${hook.id}`, { description: 'blocks the disk' }))
  await disk.holdAt(changed, async () => (await expectData(service.get(`/webhooks/${hook.id}`))).description !== '')
  fail()
  await pause(500) // the outcome of the attempt is queued for writing
  const again = expectData(service.post(`/webhooks/${hook.id}/deliveries/${id}/redeliver`))
  await service.get(`/webhooks/${hook.id}`) // and the redelivery after it
  disk.release()
  await changed
  const { status, attempts, history } = await again
  assert.equal(
    [status, attempts, history.map((attempt: { response_status: number }) => attempt.response_status)],
    ['delivered', 2, [500, 204]],
  )
})

test.run()
