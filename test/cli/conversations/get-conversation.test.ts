import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { insertMessage } from '../../../daemon/conversations/store.ts'
import { getConversation } from '../../../src/cli/conversations/get-conversation.ts'
import { ConversationFixture } from '../../conversations/conversation-fixture.ts'
import { ADMIN_TOKEN } from '../../harness/test-server.ts'

const test = suite('all messages of a conversation')

test('commands get every message of a long conversation, in order', async () => {
  const fixture = await ConversationFixture.open()
  try {
    const id = await fixture.createConversation(await fixture.resources.agent())
    const ids = Array.from({ length: 230 }, (_, index) => `msg_${String(index).padStart(3, '0')}`)
    await fixture.service.database.write(async (transaction) => {
      for (const [index, message] of ids.entries()) {
        const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString()
        await insertMessage(transaction, id, { id: message, role: 'user', content: message, timestamp })
      }
    })
    const { messages, message_count } = await getConversation({ url: fixture.url, token: ADMIN_TOKEN, notify: () => undefined }, id)
    assert.equal(
      messages.map((message) => message.id),
      ids,
    )
    assert.is(message_count, 230)
  } finally {
    await fixture.close()
  }
})

test.run()
