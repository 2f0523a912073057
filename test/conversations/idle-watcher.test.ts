import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { FakeClock } from '../webhooks/fake-clock.ts'

const test = suite('idle conversations')
const HOUR = 60 * 60 * 1000
let service: TestServer
let clock: FakeClock

test.before.each(
  reportFailure(async () => {
    clock = new FakeClock(Date.now())
    service = await TestServer.start({ clock })
  }),
)
test.after.each(reportFailure(() => service.close()))

const status = async (id: string): Promise<string> => (await expectData(service.get(`/conversations/${id}`))).status
const listCompletions = async (): Promise<Json[]> =>
  (await service.database.all<{ body: string }>("SELECT body FROM events WHERE type = 'conversation.completed' ORDER BY position")).map(
    ({ body }) => JSON.parse(body).data,
  )
async function runCheck(): Promise<void> {
  clock.fireAll()
  await expectData(service.get('/status'))
}

test('an idle conversation is completed after a day and emits one event', async () => {
  const resources = new Resources(service)
  const { id, agent_id } = await resources.conversation({ title: 'Leave' })
  clock.skip(23 * HOUR)
  await runCheck()
  assert.is(await status(id), 'active')
  clock.skip(2 * HOUR)
  await runCheck()
  await waitFor(async () => (await status(id)) === 'completed')
  await runCheck()
  await runCheck()
  const [told, ...more] = await listCompletions()
  assert.equal([told.conversation_id, told.agent_id, told.title, told.messages, more], [id, agent_id, 'Leave', 0, []])
})

test('conversations that became idle while no daemon ran are completed at startup', async () => {
  const resources = new Resources(service)
  const agent_id = (await resources.agent()).id
  const ids = await Promise.all(Array.from({ length: 130 }, async () => (await resources.conversation({ agent_id })).id))
  await expectData(service.post(`/conversations/${ids[0]}/complete`))
  clock.skip(25 * HOUR)
  service = await TestServer.start({ home: await service.stop(), clock })
  await waitFor(async () => (await service.get('/conversations?status=completed&limit=1')).body.pagination.total === 130)
  assert.equal((await listCompletions()).map(({ conversation_id }) => conversation_id).sort(), [...ids].sort())
})

test('the idle time is a setting, and 0 disables it', async () => {
  const { id } = await new Resources(service).conversation()
  assert.is((await expectData(service.put('/settings', { conversation_idle_minutes: 0 }))).conversation_idle_minutes, 0)
  clock.skip(1_000 * HOUR)
  await runCheck()
  assert.is(await status(id), 'active')
  await expectData(service.put('/settings', { conversation_idle_minutes: 1_000 * 60 + 30 }))
  await runCheck()
  assert.is(await status(id), 'active')
  await expectData(service.put('/settings', { conversation_idle_minutes: 5 }))
  await runCheck()
  await waitFor(async () => (await status(id)) === 'completed')
  for (const minutes of [-1, 1.5, '5', 1e9])
    await expectError(service.put('/settings', { conversation_idle_minutes: minutes }), 'VALIDATION_ERROR')
})

test.run()
