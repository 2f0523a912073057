/** Resumes the stream of a reply: of one that is being written, here or by another daemon, or of a stored one. */
import { createNotFoundError } from '../../../src/contract/errors.ts'
import type { StreamEvent } from '../../../src/contract/route.ts'
import type { Caller } from '../../core/caller.ts'
import type { ReplyDependencies } from '../start-reply.ts'
import { findMessage, findQuestionId } from '../store.ts'
import { getOutcome, replayStoredReply, type StoredReply } from './replay-stored-reply.ts'

/** Follows a reply from its first event, or from the event after `lastEventId`. */
export async function resumeReply(
  dependencies: Pick<ReplyDependencies, 'database' | 'conversations' | 'activeReplies'>,
  caller: Caller,
  conversationId: string,
  messageId: string,
  lastEventId: string | undefined,
): Promise<AsyncIterable<StreamEvent>> {
  const { database, conversations, activeReplies } = dependencies
  await conversations.require(database, caller, conversationId)
  const after = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : 0
  const reply = await activeReplies.findAnnounced(messageId)
  if (reply?.conversationId === conversationId) return reply.follow(after)
  const load = () => loadStoredReply(dependencies, caller, conversationId, messageId)
  const stored = await load()
  if (stored.outcome.message.finish_reason !== undefined) return replayStoredReply(stored, after)
  return (await activeReplies.remote.follow(messageId, load, after)) ?? replayStoredReply(await load(), after)
}

/** Loads a reply that is no longer in memory. */
export async function loadStoredReply(
  { database, conversations }: Pick<ReplyDependencies, 'database' | 'conversations'>,
  caller: Caller,
  conversationId: string,
  messageId: string,
): Promise<StoredReply> {
  const { agent_id } = await conversations.require(database, caller, conversationId)
  const message = await findMessage(database, conversationId, messageId)
  if (message?.role !== 'assistant') throw createNotFoundError('reply', messageId)
  const user_message_id = (await findQuestionId(database, conversationId, message)) ?? messageId
  return {
    outcome: getOutcome(message),
    start: { conversation_id: conversationId, message_id: messageId, user_message_id, model_id: message.model_id ?? '', agent_id },
  }
}
