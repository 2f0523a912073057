import type { Conversation } from '../../contract/families/conversations.ts'
import type { Message } from '../../contract/schemas/messages.ts'
import { formatLocation } from '../ask/format-location.ts'
import { formatCell } from '../terminal/format-cell.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { sanitizeLine } from '../terminal/text.ts'
import { formatToolLine, type Speakers } from './format-conversation.ts'

export function formatConversationMarkdown(conversation: Conversation, speakers: Speakers): string {
  const { id, title, created_at, user_id, messages, summary } = conversation
  const facts = [
    `Agent: ${speakers.agent}`,
    `User: ${sanitizeLine(user_id)}`,
    `Started: ${formatCell(created_at)} UTC`,
    `Conversation: ${id}`,
  ]
  const parts = [
    `# ${sanitizeLine(title ?? 'Conversation')}`,
    facts.map((fact) => `- ${fact}`).join('\n'),
    ...(summary ? [`## Summary of the first ${formatCount(summary.message_count, 'message')}\n\n${formatQuote(summary.content)}`] : []),
    ...messages.map((message) => formatMessage(message, speakers)),
  ]
  return `${parts.join('\n\n')}\n`
}

function formatMessage(message: Message, { user, agent }: Speakers): string {
  const { role, content, timestamp, citations = [], tool_calls = [], finish_reason, error } = message
  const cited = citations.filter((citation) => citation.cited).sort((a, b) => a.index - b.index)
  const note = error ?? (finish_reason === undefined || finish_reason === 'stop' ? undefined : `Ended: ${finish_reason}`)
  return [
    `## ${role === 'user' ? user : agent}, ${formatCell(timestamp)} UTC`,
    ...tool_calls.map(formatToolLine),
    content.trim(),
    ...cited.map(
      (citation) =>
        `[${citation.index}] ${formatLocation(citation)}${citation.stale ? ', changed since' : ''}\n\n${formatQuote(citation.content)}`,
    ),
    ...(role === 'assistant' && note ? [`*${sanitizeLine(note)}*`] : []),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function formatQuote(text: string): string {
  return text
    .trim()
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')
}
