import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Database } from '../../../daemon/store/database.ts'
import { openServerDatabase } from '../../../daemon/store/remote/server-database.ts'
import { ConversationFixture } from '../../conversations/conversation-fixture.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { type ScriptedProvider, stallAfter, streamInTwoParts, streamReply, streamText } from '../../harness/scripted-provider.ts'
import { isSqldInstalled, Sqld } from '../../harness/sqld/start-sqld.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'

const test = suite('replies of another daemon')
const check = isSqldInstalled() ? test : test.skip

let sqld: Sqld
let database: Database
let a: ConversationFixture
let b: ConversationFixture
let provider: ScriptedProvider
let server: RecordingServer
let agent: Json

if (isSqldInstalled()) {
  test.before(
    reportFailure(async () => {
      sqld = await Sqld.start()
      const databaseServer = { url: sqld.url, token: undefined }
      ;[a, provider] = await ConversationFixture.openWithProvider({ databaseServer })
      b = await ConversationFixture.open({ databaseServer })
      database = await openServerDatabase(databaseServer)
      server = await startRecordingServer()
      const tool = await a.resources.apiTool({ name: 'order', url: `${server.origin}/`, method: 'POST', allow_private_network: true })
      agent = await a.createAgent(provider, { tools: [tool.id] })
    }),
  )
  test.after(
    reportFailure(async () => {
      await Promise.all([a.close(), b.close(), database.close(), provider.close(), server.close()])
      sqld.remove()
    }),
  )
}

const callOrder = (id: string) => streamReply({ calls: [{ id, name: 'order', arguments: {} }] })
const start = async (id: string) => {
  const stream = await a.stream(id, 'Hi')
  const { data } = await stream.readUntil('message_start')
  return { stream, messageId: data.message_id }
}
const findReply = async (id: string) => (await b.listMessages(id)).at(-1) as Json

check('a reply is followed from its start or from the last event, with the same events', async () => {
  const { step, resume } = streamInTwoParts('one', ' two')
  provider.script = [step]
  const id = await a.createConversation(agent)
  const { stream, messageId } = await start(id)
  const delta = await stream.readUntil('message_delta')
  const second = await b.follow(id, messageId)
  await second.readUntil('message_delta')
  const third = await b.follow(id, messageId, { 'last-event-id': String(delta.id) })
  const repeated = b.service.post(`/conversations/${id}/messages`, { retry: true })
  resume()
  const [first, ...others] = await Promise.all([stream.readAll(), second.readAll(), third.readAll()])
  assert.equal(others, [first, first.slice(2)])
  assert.is((await expectData(repeated)).id, messageId)
  await waitFor(async () => (await database.all('SELECT 1 FROM reply_events')).length === 0)
})

check('a follower on another daemon keeps a reply alive, and its departure aborts it', async () => {
  provider.script = [stallAfter('so far')]
  const id = await a.createConversation(agent)
  const { stream, messageId } = await start(id)
  await stream.readUntil('message_delta')
  const second = await b.follow(id, messageId)
  await second.readUntil('message_delta')
  const { closed } = provider.received.at(-1) as { closed: Promise<void> }
  stream.disconnect()
  await expectError(b.send(id, 'Another'), 'CONFLICT')
  assert.is((await findReply(id)).finish_reason, undefined)
  second.disconnect()
  await closed
  await waitFor(async () => (await findReply(id)).finish_reason === 'aborted')
})

check('a tool call is confirmed through another daemon, whether the reply is streamed or not', async () => {
  const confirm = (id: string, messageId: string, call: string) =>
    expectData(b.service.post(`/conversations/${id}/messages/${messageId}/confirmations`, { tool_call_id: call, allow: true }))
  provider.script = [callOrder('call_1'), callOrder('call_2'), streamText('done')]
  const id = await a.createConversation(agent)
  const pending = await a.sendAndWait(id, 'Order it')
  const again = await expectData(b.service.post(`/conversations/${id}/messages`, { retry: true }))
  assert.equal([again.id, again.tool_calls[0].confirmation], [pending.id, 'pending'])
  assert.is((await confirm(id, pending.id, 'call_1')).confirmation, 'allowed')
  const next = await b.follow(id, pending.id)
  await next.readUntil('confirmation_required')
  await next.readUntil('confirmation_required')
  await confirm(id, pending.id, 'call_2')
  const { data } = await next.readUntil('message_end')
  assert.equal([data.message.content, server.requests.length], ['done', 2])
  const ended = await b.service.post(`/conversations/${id}/messages/${pending.id}/confirmations`, { tool_call_id: 'call_2', allow: true })
  assert.is(ended.status, 409)
})

check('a message waits for the reply of another daemon, and a deleted conversation ends it', async () => {
  const { step, resume } = streamInTwoParts('one', ' two')
  provider.script = [step, streamText('second')]
  const id = await a.createConversation(agent)
  const { stream } = await start(id)
  const waiting = b.send(id, 'Next', { wait: true })
  await stream.readUntil('message_delta')
  resume()
  await stream.readAll()
  assert.is((await expectData(waiting)).content, 'second')

  provider.script = [stallAfter('so far')]
  const other = await a.createConversation(agent)
  const deleted = await start(other)
  await deleted.stream.readUntil('message_delta')
  assert.ok((await b.service.delete(`/conversations/${other}`)).status < 300)
  assert.is((await deleted.stream.readUntil('message_end')).data.message.finish_reason, 'aborted')
})

test.run()
