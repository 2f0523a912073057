/** Which format a file gets. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { resolveExportFormat } from '../../../src/cli/conversations/format-export.ts'
import { formatConversationMarkdown } from '../../../src/cli/conversations/format-markdown.ts'
import type { Conversation } from '../../../src/contract/families/conversations.ts'

const test = suite('formats of exported conversations')

test('the extension selects the format, in any case', () => {
  assert.equal(['a.md', 'b.json', 'notes/c.HTML', 'd.txt', 'html'].map(resolveExportFormat), ['md', 'json', 'html', undefined, undefined])
})

test('Markdown contains the tool calls of a reply', () => {
  const tool_calls = [{ id: 'c1', name: 'pay', arguments: { amount: 12 }, confirmation: 'refused' }]
  const messages = [{ role: 'assistant', content: 'Not paid.', timestamp: '2026-01-01T00:00:00.000Z', tool_calls }]
  const conversation = { id: 'conv_1', title: null, created_at: '2026-01-01T00:00:00.000Z', user_id: 'ann', messages }
  const text = formatConversationMarkdown(conversation as unknown as Conversation, { user: 'You', agent: 'Payer' })
  assert.match(text, /UTC\n\nCalled pay \(amount: 12\): refused\n\nNot paid\.\n$/)
})

test.run()
