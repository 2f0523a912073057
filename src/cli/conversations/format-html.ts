import type { Conversation } from '../../contract/families/conversations.ts'
import type { Citation, Message, ToolCall } from '../../contract/schemas/messages.ts'
import { formatLocation } from '../ask/format-location.ts'
import { FINISH_NOTES } from '../ask/print-reply.ts'
import { type Html, html } from '../html/html.ts'
import { renderMarkdownHtml } from '../html/markdown.ts'
import { formatPage } from '../html/page.ts'
import { formatOmission, TextLimit } from '../html/text-limit.ts'
import { formatCell } from '../terminal/format-cell.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { formatJson } from '../terminal/render.ts'
import { sanitizeLine } from '../terminal/text.ts'
import type { Speakers } from './format-conversation.ts'

const MAX_MESSAGE_LENGTH = 100_000
const MAX_MESSAGES = 5_000

export function formatConversationHtml(conversation: Conversation, speakers: Speakers): string {
  const { id, title, created_at, user_id, messages, summary } = conversation
  const limit = new TextLimit(MAX_MESSAGE_LENGTH)
  const shown = messages.slice(-MAX_MESSAGES)
  const omitted = messages.length - shown.length
  const note = html`<p class="quiet">${formatCount(omitted, 'earlier message')} not shown. Export as Markdown or JSON to get all.</p>`
  return formatPage({
    title: sanitizeLine(title ?? 'Conversation'),
    subtitle: [speakers.agent, sanitizeLine(user_id), `started ${formatCell(created_at)} UTC`, id].join(' · '),
    body: [
      ...formatSummary(summary, limit),
      ...(omitted > 0 ? [note] : []),
      ...shown.map((message, index) => formatMessage(message, index, speakers, limit)),
    ],
  })
}

function formatSummary(summary: Conversation['summary'], limit: TextLimit): Html[] {
  if (!summary) return []
  const { text, omitted } = limit.shorten(summary.content)
  const label = `Summary of the first ${formatCount(summary.message_count, 'message')}`
  return [html`<details><summary>${label}</summary>${renderMarkdownHtml(text, () => undefined)}${formatOmission(omitted)}</details>`]
}

function formatMessage(message: Message, index: number, { user, agent }: Speakers, limit: TextLimit): Html {
  const { role, content, timestamp, citations = [], tool_calls = [], finish_reason, error } = message
  const { text, omitted } = limit.shorten(content.trim())
  const cited = citations.filter((citation) => citation.cited).sort((a, b) => a.index - b.index)
  const numbers = new Set(cited.map((citation) => citation.index))
  const getId = (number: number) => `message-${index + 1}-citation-${number}`
  const findCitation = (number: number) => (numbers.has(number) ? getId(number) : undefined)
  // What a user wrote is not Markdown.
  const body = role === 'user' ? html`<p class="plain" dir="auto">${text}</p>` : renderMarkdownHtml(text, findCitation)
  const note = role === 'assistant' ? (error ?? (finish_reason && FINISH_NOTES[finish_reason])) : undefined
  return html`<article class="message ${role}">
<h2>${role === 'user' ? user : agent} <time datetime="${timestamp}">${formatCell(timestamp)} UTC</time></h2>
${tool_calls.map((call) => formatToolCall(call, limit))}
${text === '' ? undefined : body}
${formatOmission(omitted)}
${cited.map((citation) => formatCitation(citation, getId(citation.index), limit))}
${note ? html`<p class="warn">${note}</p>` : undefined}
</article>
`
}

function formatToolCall({ name, arguments: input, result, error, confirmation }: ToolCall, limit: TextLimit): Html {
  const outcome = confirmation === 'refused' ? 'refused' : error === undefined ? '' : 'failed'
  const texts = [formatJson(input), ...(error === undefined ? [] : [error]), ...(result === undefined ? [] : [formatJson(result)])]
  return html`<details><summary>Called <b>${name}</b> ${outcome}</summary>${texts.map((each) => {
    const { text, omitted } = limit.shorten(each)
    return html`<pre>${text}</pre>${formatOmission(omitted)}`
  })}</details>`
}

/** A link to the text inside opens the citation. */
function formatCitation(citation: Citation, id: string, limit: TextLimit): Html {
  const { text, omitted } = limit.shorten(citation.content.trim())
  const place = [formatLocation(citation), citation.headings, citation.stale ? 'changed since' : undefined].filter(Boolean).join(' · ')
  return html`<details><summary>[${citation.index}] ${place}</summary>
<blockquote id="${id}" dir="auto">${text}</blockquote>${formatOmission(omitted)}</details>`
}
