/** At a start: replies that the end of the last daemon cut off are marked so, with the text they had and what they took. */
import { type Meter, money } from '../../core/meter.ts'
import { estimateTokens } from '../../models/token-estimate.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { findMessage, type StoredMessage, updateMessage } from '../store.ts'
import { deleteActiveReply, listActiveReplies, type OpenCall, type StoredActiveReply } from './active-reply-store.ts'

/** How many were cut off. To be called before the ledger mends itself, which then finds their calls settled. */
export async function recoverInterruptedReplies(database: Database, meter: Meter): Promise<number> {
  return database.write(async (transaction) => {
    const left = await listActiveReplies(transaction)
    for (const reply of left) await recoverReply(transaction, meter, reply)
    return left.length
  })
}

async function recoverReply(
  transaction: Transaction,
  meter: Meter,
  { message_id, conversation_id, call }: StoredActiveReply,
): Promise<void> {
  const message = await findMessage(transaction, conversation_id, message_id)
  const content = message?.content ?? ''
  const spent = call && (await settleCall(transaction, meter, call, content))
  if (message) await updateMessage(transaction, { ...message, ...addUsage(message, spent), finish_reason: 'interrupted' })
  await deleteActiveReply(transaction, message_id)
}

interface Spent {
  input: number
  output: number
  cost: number | null
}

/** As the ledger was told at every checkpoint: the text of both is stored together. */
async function settleCall(transaction: Transaction, meter: Meter, call: OpenCall, content: string): Promise<Spent> {
  const [input, output] = [call.estimated_input, estimateTokens(content.slice(call.said_before))]
  const cost = await meter.settle(transaction, call.entry, {
    input_tokens: input,
    output_tokens: output,
    status: 'interrupted',
    estimated: true,
  })
  return { input, output, cost }
}

function addUsage({ usage, cost = 0 }: StoredMessage, spent: Spent | undefined): Pick<StoredMessage, 'usage' | 'cost'> {
  const { input = 0, output = 0, cost: more = 0 } = spent ?? {}
  const input_tokens = (usage?.input_tokens ?? 0) + input
  const output_tokens = (usage?.output_tokens ?? 0) + output
  return {
    usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
    cost: cost === null || more === null ? null : money(cost + more),
  }
}
