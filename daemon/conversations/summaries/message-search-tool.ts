/** The tool with which a model finds the exact words of messages that it no longer reads. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { Tool } from '../../core/tool.ts'
import type { DatabaseReader } from '../../store/database.ts'
import { findMessagesOfConversation } from '../search/message-index-store.ts'
import { formatAnyMatch, parseSearchQuery } from '../search/search-query.ts'
import type { Position } from '../store.ts'

export const SEARCH_TOOL_NAME = 'search_conversation'
const MAX_RESULTS = 5
const MAX_RESULT_LENGTH = 1_000
/** Text before the first word that matches, if the message is longer. */
const LEAD_LENGTH = 300

/** Searches the messages before the question. */
export const createMessageSearchTool = (reader: DatabaseReader, conversationId: string, question: Position): Tool => ({
  id: SEARCH_TOOL_NAME,
  name: SEARCH_TOOL_NAME,
  description: 'Finds earlier messages of this conversation by their words, for details that the summary leaves out.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'Words to search for.' } },
    required: ['query'],
    additionalProperties: false,
  },
  requiresConfirmation: false,
  async run({ query }) {
    const terms = typeof query === 'string' ? parseSearchQuery(query) : []
    if (terms.length === 0) throw new CadreError('VALIDATION_ERROR', 'query must contain the words to search for.')
    const messages = await findMessagesOfConversation(reader, conversationId, formatAnyMatch(terms), {
      before: question,
      limit: MAX_RESULTS,
    })
    if (messages.length === 0) return { kind: 'value', value: 'No earlier message contains these words.' }
    const words = terms.flatMap((term) => term.words)
    const lines = messages.map(
      ({ role, content, created_at }) => `${created_at} ${role === 'user' ? 'User' : 'Assistant'}: ${cutExcerpt(content, words)}`,
    )
    return { kind: 'value', value: lines.join('\n\n') }
  },
})

/** Returns the part of a message around the first word found. */
function cutExcerpt(content: string, words: readonly string[]): string {
  if (content.length <= MAX_RESULT_LENGTH) return content
  const lower = content.toLowerCase()
  const positions = words.map((word) => lower.indexOf(word.toLowerCase())).filter((position) => position >= 0)
  const start = Math.max(0, Math.min(...positions, content.length) - LEAD_LENGTH)
  const from = start < content.length - LEAD_LENGTH ? start : 0
  const excerpt = content.slice(from, from + MAX_RESULT_LENGTH).toWellFormed()
  return `${from > 0 ? '…' : ''}${excerpt}${from + MAX_RESULT_LENGTH < content.length ? '…' : ''}`
}
