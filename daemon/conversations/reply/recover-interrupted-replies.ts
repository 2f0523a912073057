/** Marks replies that the previous daemon left unfinished as interrupted and settles their usage. */
import { type Meter, roundMoney } from '../../core/meter.ts'
import { estimateTokens } from '../../models/token-estimate.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { findMessage, type StoredMessage, updateMessage } from '../store.ts'
import { deleteActiveReply, listActiveReplies, type OpenCall, type StoredActiveReply } from './active-reply-store.ts'
import type { DraftUsage } from './message-draft.ts'

/** Returns the number of interrupted replies. Must run before the usage ledger recovers, which settles the remaining open calls. */
export async function recoverInterruptedReplies(database: Database, meter: Meter): Promise<number> {
  return database.write(async (transaction) => {
    const replies = await listActiveReplies(transaction)
    for (const reply of replies) await recoverReply(transaction, meter, reply)
    return replies.length
  })
}

async function recoverReply(
  transaction: Transaction,
  meter: Meter,
  { message_id, conversation_id, call }: StoredActiveReply,
): Promise<void> {
  const message = await findMessage(transaction, conversation_id, message_id)
  const content = message?.content ?? ''
  const callUsage = call && (await settleCall(transaction, meter, call, content))
  if (message) await updateMessage(transaction, { ...message, ...addUsage(message, callUsage), finish_reason: 'interrupted' })
  await deleteActiveReply(transaction, message_id)
}

/** Uses the same estimate as the checkpoints, which store text and usage together. */
async function settleCall(transaction: Transaction, meter: Meter, call: OpenCall, content: string): Promise<DraftUsage> {
  const [input, output] = [call.estimated_input, estimateTokens(content.slice(call.said_before))]
  const cost = await meter.settle(transaction, call.entry, {
    input_tokens: input,
    output_tokens: output,
    status: 'interrupted',
    estimated: true,
  })
  return { input, output, cost }
}

function addUsage({ usage, cost = 0 }: StoredMessage, callUsage: DraftUsage | undefined): Pick<StoredMessage, 'usage' | 'cost'> {
  const { input = 0, output = 0, cost: more = 0 } = callUsage ?? {}
  const input_tokens = (usage?.input_tokens ?? 0) + input
  const output_tokens = (usage?.output_tokens ?? 0) + output
  return {
    usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
    cost: cost === null || more === null ? null : roundMoney(cost + more),
  }
}
