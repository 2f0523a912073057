/** A first message that the daemon rejects, in a chat with a real daemon. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { streamText } from '../harness/scripted-provider.ts'
import { hasTmux } from '../harness/tmux-terminal.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('rejected messages')
const atTerminal = hasTmux ? test : test.skip

atTerminal('a blocked first message leaves no conversation, and the next message starts one', async () => {
  const fixture = await ChatFixture.open()
  try {
    await fixture.createAgent('Guide')
    const { id } = await fixture.create('/usage/thresholds', { name: 'None', metric: 'tokens', limit: 0, period: 'day', action: 'block' })
    fixture.script(streamText('Twenty-five.'))
    const terminal = fixture.openChat({ agent: 'Guide' })
    await terminal.waitFor(/Ask Guide/)
    terminal.write('Blocked?\r')
    await terminal.waitFor(/The limit "None"/)
    await waitFor(async () => (await fixture.get('/conversations')).length === 0)
    await fixture.run(['usage', 'thresholds', 'delete', id, '--yes'])
    terminal.write('How many days?\r')
    await terminal.waitFor('Twenty-five.')
    assert.equal(
      (await fixture.get('/conversations')).map(({ title }: { title: string }) => title),
      ['How many days?'],
    )
  } finally {
    await fixture.close()
  }
})

test.run()
