/** Extends the summary of a conversation by the messages after it. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { ChatInput, ChatModel } from '../../models/chat-model.ts'
import { estimateTokens } from '../../models/token-estimate.ts'
import type { DatabaseReader, Transaction } from '../../store/database.ts'
import { hasUntrustedText } from '../reply/untrusted-messages.ts'
import { listFirstMessages, type Position, type StoredMessage } from '../store.ts'
import { buildSummaryRequest } from './build-summary-request.ts'
import { type StoredSummary, saveSummary } from './store.ts'
import { getEnd } from './stored-history.ts'

/** Bounds the time and cost of one reply. The next one continues with the rest. */
const MAX_CALLS = 4
const MESSAGES_PER_READ = 200
/** Models exceed the limit that they are given; the rest of such a summary is cut off. */
const MAX_LENGTH_FACTOR = 1.5

/** Calls the model and stores its text in the transaction that records the usage of the call. */
export type WriteSummary = (
  request: Pick<ChatInput, 'messages' | 'maxTokens'>,
  store: (transaction: Transaction, text: string) => Promise<void>,
) => Promise<void>

export interface ExtendSummaryInput {
  reader: DatabaseReader
  conversationId: string
  model: ChatModel
  previous: StoredSummary | undefined
  /** The first message that stays as it is. */
  until: Position
  instructions?: string | undefined
  write: WriteSummary
}

/** Each call reads as many messages as fit. Returns the last summary that was stored. */
export async function extendSummary(input: ExtendSummaryInput): Promise<StoredSummary | undefined> {
  const { reader, conversationId, model, until, instructions, write } = input
  let summary = input.previous
  for (let call = 0; call < MAX_CALLS; call++) {
    const range = { after: summary && getEnd(summary), before: until }
    const messages = await listFirstMessages(reader, conversationId, MESSAGES_PER_READ, range)
    const isRewrite = call === 0 && instructions !== undefined && summary !== undefined
    if (messages.length === 0 && !isRewrite) break
    const { contextTokens } = model
    const { included, ...request } = buildSummaryRequest({ contextTokens, previous: summary?.content ?? '', messages, instructions })
    const previous = summary
    await write(request, async (transaction, text) => {
      summary = createSummary(previous, included, cutOff(text, request.maxTokens * MAX_LENGTH_FACTOR), model.id)
      await saveSummary(transaction, conversationId, summary, previous)
    })
  }
  return summary
}

function createSummary(
  previous: StoredSummary | undefined,
  included: readonly StoredMessage[],
  content: string,
  modelId: string,
): StoredSummary {
  if (content === '')
    throw new CadreError('PROVIDER_ERROR', 'The model returned an empty summary.', { hint: 'Try again, or use another model.' })
  const last = included.at(-1)
  return {
    content,
    message_count: (previous?.message_count ?? 0) + included.length,
    last_message_id: last?.id ?? previous?.last_message_id ?? '',
    last_created_at: last?.timestamp ?? previous?.last_created_at ?? '',
    model_id: modelId,
    has_untrusted_text: (previous?.has_untrusted_text ?? false) || included.some(hasUntrustedText),
    updated_at: new Date().toISOString(),
  }
}

function cutOff(text: string, maxTokens: number): string {
  const clean = text.replaceAll('\u0000', '').toWellFormed().trim()
  const share = maxTokens / Math.max(1, estimateTokens(clean))
  return share >= 1 ? clean : clean.slice(0, Math.floor(clean.length * share)).toWellFormed()
}
