/** Formats a conversation with its messages, tool calls and citations. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { handleError } from '../../contract/errors.ts'
import { agentRoutes } from '../../contract/families/agents.ts'
import type { Conversation } from '../../contract/families/conversations.ts'
import type { Message } from '../../contract/schemas/messages.ts'
import { formatCitations } from '../ask/format-citations.ts'
import { FINISH_NOTES, formatToolCall } from '../ask/print-reply.ts'
import { paint } from '../terminal/color.ts'
import { formatCell } from '../terminal/format-cell.ts'
import { formatProse, MAX_PROSE_COLUMNS } from '../terminal/format-prose.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import type { Output } from '../terminal/table.ts'
import { sanitizeLine, sanitizeText, truncate, wrap } from '../terminal/text.ts'

const MAX_QUESTION_LENGTH = 2_000

/** Display names of the user and the agent. */
export interface Speakers {
  user: string
  agent: string
}

export interface ConversationOptions {
  output: Output
  citations: boolean
  /** Whether to show whole passages and questions instead of excerpts. */
  full: boolean
}

export async function getSpeakers(connection: Connection, { agent_id, user_id }: Conversation): Promise<Speakers> {
  return {
    user: user_id === 'local' ? 'You' : sanitizeLine(user_id),
    agent: agent_id === null ? 'Agent' : await getAgentName(connection, agent_id),
  }
}

function getAgentName(connection: Connection, id: string): Promise<string> {
  return call(connection, agentRoutes.get, { params: { id } }).then(
    ({ data }) => sanitizeLine(data.name),
    handleError('NOT_FOUND', () => 'Agent'), // deleted in the meantime
  )
}

export function findUnfinishedReply({ messages }: Conversation): Message | undefined {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.finish_reason === undefined ? last : undefined
}

export function formatConversationHeading(
  { id, title, status, created_at }: Conversation,
  { agent }: Speakers,
  { output }: ConversationOptions,
): string[] {
  const facts = [agent, formatCell(created_at), status].join(' · ')
  const lines = wrap(sanitizeLine(title ?? 'Conversation'), Math.min(output.columns, MAX_PROSE_COLUMNS))
  return [...lines.map((line) => paint('bold', line, output.stream)), paint('dim', facts, output.stream), paint('dim', id, output.stream)]
}

/** Formats the summary that the model reads instead of the first messages. */
export function formatSummary({ summary }: Conversation, { output }: ConversationOptions): string[] {
  if (!summary) return []
  return [
    paint('dim', `Summary of the first ${formatCount(summary.message_count, 'message')}`, output.stream),
    formatProse(summary.content, output),
  ]
}

/** Formats a message; `question` is the user message it replies to. */
export function formatMessage(message: Message, speakers: Speakers, question: string, options: ConversationOptions): string[] {
  const { role, content, timestamp, citations = [], tool_calls = [], finish_reason, error } = message
  const { output } = options
  const speaker = role === 'user' ? speakers.user : speakers.agent
  const text = role === 'user' && !options.full ? truncateQuestion(content) : content
  const note = error ?? (finish_reason === undefined ? undefined : FINISH_NOTES[finish_reason])
  return [
    `${paint(role === 'user' ? 'green' : 'cyan', speaker, output.stream)} ${paint('dim', formatCell(timestamp), output.stream)}`,
    ...tool_calls.map((tool) => paint('dim', truncate(formatToolLine(tool), Math.min(output.columns, MAX_PROSE_COLUMNS)), output.stream)),
    ...(text.trim() === '' ? [] : role === 'user' ? wrapQuestion(text, output) : [formatProse(text, output)]),
    ...(options.citations ? formatCitations(citations, content, { query: question, output, full: options.full }) : []),
    ...(note ? [paint('yellow', sanitizeText(note), output.stream)] : []),
  ]
}

/** Formats as `Called pay (amount: 12): refused`. */
export function formatToolLine({ error, confirmation, ...tool }: NonNullable<Message['tool_calls']>[number]): string {
  const outcome = confirmation === 'refused' ? ': refused' : error === undefined ? '' : `: ${sanitizeLine(error)}`
  return `Called ${formatToolCall(tool)}${outcome}`
}

/** What a user wrote is not Markdown. */
const wrapQuestion = (text: string, { columns }: Output): string[] =>
  wrap(sanitizeText(text).trimEnd(), columns === Number.POSITIVE_INFINITY ? columns : Math.min(columns, MAX_PROSE_COLUMNS))

/** Questions may contain piped logs of thousands of lines. */
function truncateQuestion(text: string): string {
  if (text.length <= MAX_QUESTION_LENGTH) return text
  const rest = text.length - MAX_QUESTION_LENGTH
  return `${text.slice(0, MAX_QUESTION_LENGTH).toWellFormed()}…\n(${formatCount(rest)} more characters; use --full to show them)`
}

/** Pairs each message with the last user message before it. */
export function pairWithQuestions(messages: readonly Message[]): { message: Message; question: string }[] {
  let question = ''
  return messages.map((message) => {
    if (message.role === 'user') question = message.content
    return { message, question }
  })
}
