import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../knowledge/knowledge-fixture.ts'
import { FakeClock } from '../webhooks/fake-clock.ts'

const test = suite('idle conversations')
const HOUR = 60 * 60 * 1000
let service: TestServer
let clock: FakeClock

test.before.each(
  aloud(async () => {
    clock = new FakeClock(Date.now())
    service = await TestServer.start({ clock })
  }),
)
test.after.each(aloud(() => service.close()))

const status = async (id: string): Promise<string> => (await expectData(service.get(`/conversations/${id}`))).status
const completions = async (): Promise<Json[]> =>
  (await service.database.all<{ body: string }>("SELECT body FROM events WHERE type = 'conversation.completed' ORDER BY position")).map(
    ({ body }) => JSON.parse(body).data,
  )
/** The next look at what is idle has been taken. */
async function looked(): Promise<void> {
  clock.next()
  await expectData(service.get('/status'))
}

test('after a day without a word a conversation completes by itself, once, and says so', async () => {
  const resources = new Resources(service)
  const { id, agent_id } = await resources.conversation({ title: 'Leave' })
  clock.pass(23 * HOUR)
  await looked()
  assert.is(await status(id), 'active')
  clock.pass(2 * HOUR)
  await looked()
  await waitFor(async () => (await status(id)) === 'completed')
  await looked()
  await looked()
  const [told, ...more] = await completions()
  assert.equal([told.conversation_id, told.agent_id, told.title, told.messages, more], [id, agent_id, 'Leave', 0, []])
})

test('so do those that were left alone while no daemon ran, however many', async () => {
  const resources = new Resources(service)
  const agent_id = (await resources.agent()).id
  const ids = await Promise.all(Array.from({ length: 130 }, async () => (await resources.conversation({ agent_id })).id))
  await expectData(service.post(`/conversations/${ids[0]}/complete`))
  clock.pass(25 * HOUR)
  service = await TestServer.start({ home: await service.stop(), clock })
  await waitFor(async () => (await service.get('/conversations?status=completed&limit=1')).body.pagination.total === 130)
  assert.equal((await completions()).map(({ conversation_id }) => conversation_id).sort(), [...ids].sort())
})

test('the time is a setting, and 0 is never', async () => {
  const { id } = await new Resources(service).conversation()
  assert.is((await expectData(service.put('/settings', { conversation_idle_minutes: 0 }))).conversation_idle_minutes, 0)
  clock.pass(1_000 * HOUR)
  await looked()
  assert.is(await status(id), 'active')
  await expectData(service.put('/settings', { conversation_idle_minutes: 1_000 * 60 + 30 }))
  await looked()
  assert.is(await status(id), 'active')
  await expectData(service.put('/settings', { conversation_idle_minutes: 5 }))
  await looked()
  await waitFor(async () => (await status(id)) === 'completed')
  for (const minutes of [-1, 1.5, '5', 1e9])
    await expectError(service.put('/settings', { conversation_idle_minutes: minutes }), 'VALIDATION_ERROR')
})

test.run()
