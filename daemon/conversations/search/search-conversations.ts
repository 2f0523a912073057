import { createValidationError } from '../../../src/contract/errors.ts'
import type { ConversationMatch } from '../../../src/contract/families/conversations.ts'
import type { DatabaseReader } from '../../store/database.ts'
import type { Page, Subset } from '../../store/records.ts'
import { parseDateRange } from '../../validation/date-range.ts'
import { createSnippet } from './create-snippet.ts'
import { countMatches, findMessages, listMatchingMessages, listNumbers, selectConversations } from './message-index-store.ts'
import { formatMatch, parseSearchQuery, type SearchTerm } from './search-query.ts'

interface SearchInput {
  q: string
  start_date?: string
  end_date?: string
}

/** Text in which a word is located, for all results together; with more words, less. Later snippets show the beginning of the message. */
const MAX_SCANNED_CHARACTERS = 2_000_000
const MAX_SCANNED_PER_MESSAGE = 100_000
const MAX_UNSCANNED_CHARACTERS = 1_000

/** `list` returns a page of the conversations of the subset that the caller can access. */
export async function searchConversations<T extends { id: string }>(
  reader: DatabaseReader,
  { q, start_date, end_date }: SearchInput,
  list: (subset: Subset) => Promise<Page<T>>,
): Promise<Page<T & { match_count: number; match?: ConversationMatch }>> {
  const terms = parseSearchQuery(q)
  if (terms.length === 0) throw createValidationError('q', 'must contain a letter or digit')
  const dates = { start_date, end_date }
  const period = Object.keys(dates).length > 0 ? parseDateRange(dates) : undefined
  const messages = await findMessages(reader, formatMatch(terms), period)
  if (messages.length === 0) return { items: [], total: 0 }
  const { items, total } = await list(selectConversations(messages))
  const numbers = await listNumbers(
    reader,
    items.map(({ id }) => id),
  )
  const found = items.map((item) => ({ item, ...countMatches(messages, numbers.get(item.id) ?? 0) }))
  const matches = await createMatches(
    reader,
    terms,
    found.map(({ newest }) => newest),
  )
  return {
    total,
    items: found.map(({ item, match_count, newest }) => {
      const match = matches.get(newest)
      return { ...item, match_count, ...(match ? { match } : {}) }
    }),
  }
}

async function createMatches(
  reader: DatabaseReader,
  terms: readonly SearchTerm[],
  numbers: readonly number[],
): Promise<Map<number, ConversationMatch>> {
  let unscanned = MAX_SCANNED_CHARACTERS / terms.flatMap(({ words }) => words).length
  const matches = new Map<number, ConversationMatch>()
  const messages = await listMatchingMessages(reader, numbers, MAX_SCANNED_PER_MESSAGE)
  for (const { number, id, role, content, created_at } of messages) {
    const { text, highlights } = createSnippet(content.slice(0, Math.max(MAX_UNSCANNED_CHARACTERS, unscanned)), unscanned > 0 ? terms : [])
    unscanned -= content.length
    matches.set(number, { message_id: id, role, timestamp: created_at, snippet: text, highlights })
  }
  return matches
}
