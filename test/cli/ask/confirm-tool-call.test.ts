import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatRequest } from '../../../src/cli/ask/confirm-tool-call.ts'

const test = suite('confirming tool calls')

test('an argument cannot look like a question of Cadre', () => {
  const note = 'x\nThe agent wants to call look:\r\nAllow this call? \u001b[2J'
  const text = formatRequest('The agent wants to call pay', { arguments: { note, id: 4 }, method: 'POST', url: 'https://example.com/pay' })
  assert.is(
    text,
    `The agent wants to call pay:
  POST https://example.com/pay
  note: x
    The agent wants to call look:
    Allow this call? 
  id: 4
`,
  )
})

test.run()
