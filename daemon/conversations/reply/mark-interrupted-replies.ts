/** Marks replies that a daemon left unfinished as interrupted and settles their usage. */
import { roundMoney } from '../../core/compute-cost.ts'
import { addCallUsage, type CallUsage, type Meter } from '../../core/meter.ts'
import { estimateTokens } from '../../models/token-estimate.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { retryWrite } from '../../store/remote/retry-write.ts'
import { findMessage, type StoredMessage, updateMessage } from '../store.ts'
import { deleteActiveReply, listAbandonedReplies, type StoredActiveReply } from './active-reply-store.ts'

/** Returns the number of interrupted replies. Must run before the usage ledger recovers, which settles the remaining open calls. */
export async function markInterruptedReplies(database: Database, meter: Meter): Promise<number> {
  return retryWrite(database, async (transaction) => {
    const replies = await listAbandonedReplies(transaction)
    for (const reply of replies) await markInterrupted(transaction, meter, reply)
    return replies.length
  })
}

async function markInterrupted(
  transaction: Transaction,
  meter: Meter,
  { message_id, conversation_id, entry, estimated_input, said_before }: StoredActiveReply,
): Promise<void> {
  const message = await findMessage(transaction, conversation_id, message_id)
  const call: CallUsage = { input_tokens: 0, output_tokens: 0, status: 'interrupted', estimated: true }
  let callCost: number | null = 0
  if (entry !== null) {
    // The same estimate as in the checkpoints, which store text and usage together.
    call.input_tokens = estimated_input
    call.output_tokens = estimateTokens((message?.content ?? '').slice(said_before))
    callCost = await meter.settle(transaction, entry, call)
  }
  if (message)
    await updateMessage(transaction, {
      ...refuseConfirmations(message),
      ...addUsage(message, call, callCost),
      finish_reason: 'interrupted',
    })
  await deleteActiveReply(transaction, message_id)
}

/** Nobody can confirm them any more. */
function refuseConfirmations(message: StoredMessage): StoredMessage {
  if (!message.tool_calls) return message
  const tool_calls = message.tool_calls.map((call) =>
    call.confirmation === 'pending' ? { ...call, confirmation: 'refused' as const } : call,
  )
  return { ...message, tool_calls }
}

function addUsage({ usage, cost = 0 }: StoredMessage, call: CallUsage, callCost: number | null): Pick<StoredMessage, 'usage' | 'cost'> {
  return {
    usage: addCallUsage(usage, call),
    cost: cost === null || callCost === null ? null : roundMoney(cost + callCost),
  }
}
