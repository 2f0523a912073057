import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HeldDisk } from '../harness/held-disk.ts'
import { aloud } from '../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../harness/scripted-provider.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('conversations on a slow disk')
const disk = new HeldDisk()
let parlour: ConversationFixture
let provider: ScriptedProvider

test.before(
  aloud(async () => {
    parlour = await ConversationFixture.open({ disk: disk.open })
    provider = await ScriptedProvider.start('openai', streamText('Hello there.'))
  }),
)
test.after.each(() => disk.release())
test.after(aloud(() => Promise.all([parlour.close(), provider.close()])))

test('a reply can be followed from the moment it can be read of', async () => {
  const id = await parlour.startConversation(provider)
  disk.hold()
  const sent = parlour.sendAndWait(id, 'Hi')
  await disk.holdAt(sent, async () => (await parlour.listMessages(id)).length === 2)
  const [, reply] = await parlour.listMessages(id)
  const following = parlour.service.get(`/conversations/${id}/messages/${reply.id}/events`)
  await parlour.listMessages(id) // it has been asked for before the disk is done
  disk.release()
  const { text } = await following
  assert.match(text, /event: message_end/)
  assert.not.match(text, /event: error/)
  assert.is((await sent).finish_reason, 'stop')
})

test('the next message may be sent as soon as the end of a reply can be read', async () => {
  const id = await parlour.startConversation(provider)
  disk.hold()
  const first = parlour.sendAndWait(id, 'Hi')
  await disk.holdAt(first, async () => (await parlour.listMessages(id)).at(-1)?.finish_reason === 'stop')
  const second = parlour.sendAndWait(id, 'And again')
  await parlour.listMessages(id)
  disk.release()
  await Promise.all([first, second])
  assert.is((await parlour.listMessages(id)).length, 4)
})

test.run()
