import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { PausableDisk } from '../harness/pausable-disk.ts'
import { ScriptedProvider, streamText } from '../harness/scripted-provider.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('conversations on a slow disk')
const disk = new PausableDisk()
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    fixture = await ConversationFixture.open({ disk: disk.open })
    provider = await ScriptedProvider.start('openai', streamText('Hello there.'))
  }),
)
test.after.each(() => disk.release())
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

test('a reply can be followed as soon as it is visible to readers', async () => {
  const id = await fixture.startConversation(provider)
  disk.hold()
  const sent = fixture.sendAndWait(id, 'Hi')
  await disk.holdAt(sent, async () => (await fixture.listMessages(id)).length === 2)
  const [, reply] = await fixture.listMessages(id)
  const following = fixture.service.get(`/conversations/${id}/messages/${reply.id}/events`)
  await fixture.listMessages(id) // the request for events was received before the write is confirmed
  disk.release()
  const { text } = await following
  assert.match(text, /event: message_end/)
  assert.not.match(text, /event: error/)
  assert.is((await sent).finish_reason, 'stop')
})

test('the next message is accepted as soon as the end of the reply is visible', async () => {
  const id = await fixture.startConversation(provider)
  disk.hold()
  const first = fixture.sendAndWait(id, 'Hi')
  await disk.holdAt(first, async () => (await fixture.listMessages(id)).at(-1)?.finish_reason === 'stop')
  const second = fixture.sendAndWait(id, 'And again')
  await fixture.listMessages(id)
  disk.release()
  await Promise.all([first, second])
  assert.is((await fixture.listMessages(id)).length, 4)
})

test.run()
