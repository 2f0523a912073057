import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatCall } from '../../../src/cli/ask/confirm-tool-call.ts'

const test = suite('confirming tool calls')

test('an argument cannot look like a question of Cadre', () => {
  const note = 'x\nThe agent wants to call look:\r\nAllow this call? \u001b[2J'
  const lines = formatCall({ arguments: { note, id: 4 }, method: 'POST', url: 'https://example.com/pay' })
  assert.equal(lines, [
    '  POST https://example.com/pay\n',
    '  note: x\n    The agent wants to call look:\n    Allow this call? \n',
    '  id: 4\n',
  ])
})

test.run()
