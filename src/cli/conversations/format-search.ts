/** Formats the conversations that a search found, with highlighted snippets. */
import type { ConversationSearchItem } from '../../contract/families/conversations.ts'
import { paint } from '../terminal/color.ts'
import { formatCell } from '../terminal/format-cell.ts'
import { MAX_PROSE_COLUMNS } from '../terminal/format-prose.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import type { Output } from '../terminal/table.ts'
import { sanitizeLine, sanitizeText, truncate, wrap } from '../terminal/text.ts'

const INDENT = '  '

/** `agents` are the names of agents by id. */
export function formatFoundConversation(item: ConversationSearchItem, agents: ReadonlyMap<string, string>, output: Output): string[] {
  const { id, title, agent_id, match_count = 0, match } = item
  const columns = Math.min(output.columns, MAX_PROSE_COLUMNS)
  const agent = agent_id === null ? 'deleted agent' : sanitizeLine(agents.get(agent_id) ?? agent_id)
  const facts = [agent, ...(match ? [formatCell(match.timestamp)] : []), formatCount(match_count, 'matching message')].join(' · ')
  return [
    paint('bold', truncate(sanitizeLine(title ?? 'Conversation'), columns), output.stream),
    paint('dim', truncate(facts, columns), output.stream),
    // An ID is meant to be copied.
    paint('dim', id, output.stream),
    ...(match ? formatSnippet(match, columns - INDENT.length, output.stream) : []),
  ]
}

type Match = NonNullable<ConversationSearchItem['match']>

function formatSnippet({ role, snippet, highlights }: Match, columns: number, stream: NodeJS.WriteStream): string[] {
  let text = role === 'user' ? 'You: ' : 'Agent: '
  let position = 0
  const found: { start: number; end: number }[] = []
  for (const { start, end } of highlights) {
    text += sanitizeText(snippet.slice(position, start))
    const word = sanitizeText(snippet.slice(start, end))
    found.push({ start: text.length, end: text.length + word.length })
    text += word
    position = end
  }
  text += sanitizeText(snippet.slice(position))
  let offset = 0
  return wrap(text, columns).map((line) => {
    offset = text.indexOf(line, offset)
    const from = offset
    offset += line.length
    return INDENT + paintRanges(line, from, found, stream)
  })
}

/** Paints the parts of a line that are in the ranges of the text, in which the line starts at `from`. */
function paintRanges(line: string, from: number, ranges: readonly { start: number; end: number }[], stream: NodeJS.WriteStream): string {
  const clip = (position: number) => Math.min(Math.max(position - from, 0), line.length)
  let painted = ''
  let position = 0
  for (const { start, end } of ranges) {
    painted += line.slice(position, clip(start)) + paint('yellow', line.slice(clip(start), clip(end)), stream)
    position = Math.max(position, clip(end))
  }
  return painted + line.slice(position)
}
