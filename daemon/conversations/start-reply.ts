/** Starts a reply: in a conversation, where the question and the reply are stored, or without one. */
import type { AgentsService } from '../agents/service.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import type { CallOrigin, Meter } from '../core/meter.ts'
import type { MemoriesService } from '../memories/service.ts'
import type { ModelsService } from '../models/service.ts'
import { estimateInput } from '../models/token-estimate.ts'
import type { Shared } from '../shared-services.ts'
import type { ActiveReplies } from './active-replies.ts'
import { composeFirstInput } from './agent-loop/agent-loop.ts'
import { ReplyRecorder } from './agent-loop/reply-recorder.ts'
import type { TurnContext } from './agent-loop/turn-context.ts'
import { UsageRecorder } from './agent-loop/usage-recorder.ts'
import { writeReply } from './agent-loop/write-reply.ts'
import { requireNoOtherReply } from './cluster/other-replies.ts'
import type { Turn } from './message-queue.ts'
import type { ActiveReply } from './reply/active-reply.ts'
import type { ConversationsService } from './service.ts'
import { deleteMessage, insertMessage, type StoredConversation, type StoredMessage, updateMessage } from './store.ts'

export interface ReplyDependencies extends Shared<'database' | 'cluster' | 'logger' | 'telemetry'> {
  conversations: ConversationsService
  meter: Meter
  activeReplies: ActiveReplies
}

/** What a reply of an agent or a model depends on. */
export interface AnswerDependencies extends ReplyDependencies {
  agents: AgentsService
  models: ModelsService
  memories: MemoriesService
}

interface ReplyInput {
  context: TurnContext
  reply: ActiveReply
  origin: CallOrigin
}

interface StoredReplyInput extends ReplyInput {
  change: ChangeContext
  conversation: StoredConversation
  turn: Turn
  now: string
  question: {
    id: string
    /** Undefined if the message is stored already. */
    text: string | undefined
    /** Whether it is the first message of the conversation. */
    isFirst: boolean
  }
  /** A failed reply that this one replaces. */
  replaced?: StoredMessage | undefined
  /** An earlier message that changes: it is replaced, or has received the results of a client's tools. */
  updated?: StoredMessage | undefined
}

/** Stores the question and the reply, and starts to write it. */
export async function startStoredReply(dependencies: ReplyDependencies, input: StoredReplyInput): Promise<void> {
  const { database, cluster, conversations, meter, activeReplies, logger, telemetry } = dependencies
  const { change, conversation, context, reply, origin, turn, now, question, replaced, updated } = input
  const { id: conversationId, agent_id } = conversation
  const firstRequest = composeFirstInput(context)
  const recorder = new ReplyRecorder({ database, meter, model: context.model, origin, reply, maxTokens: context.maxTokens })
  const { messageId } = reply
  const endAnnouncement = activeReplies.announce(messageId)
  try {
    await database.write(async (transaction) => {
      const title = question.isFirst ? context.question : undefined
      const resumed = conversations.resume(transaction, change.caller, conversationId, now, title)
      await Promise.all([resumed, requireNoOtherReply(cluster, transaction, conversationId)])
      if (question.text !== undefined)
        await insertMessage(transaction, conversationId, {
          id: question.id,
          role: 'user',
          content: question.text,
          timestamp: now,
          ...describeSender(change.caller, conversation),
        })
      if (replaced) await deleteMessage(transaction, replaced.id)
      if (updated) await updateMessage(transaction, updated)
      await recorder.insertReply(transaction, firstRequest)
      await change.storeResponse?.(transaction, { message_id: messageId, user_message_id: question.id })
    })
    emitStart(input, conversationId, question.id, agent_id)
    const writing = { context, firstRequest, reply, recorder, turn, database, logger, telemetry }
    activeReplies.run(reply, recorder, () => writeReply(writing).finally(turn.end))
  } finally {
    endAnnouncement()
  }
}

/** A token without a user acts for the user of the conversation. */
const describeSender = ({ userId }: Caller, { user_id }: StoredConversation): { user_id?: string } =>
  userId === null || userId === user_id ? {} : { user_id: userId }

/** Starts a reply that is not stored. Only its usage is. */
export async function startUnstoredReply(dependencies: ReplyDependencies, input: ReplyInput): Promise<void> {
  const { database, meter, activeReplies, logger, telemetry } = dependencies
  const { context, reply, origin } = input
  const firstRequest = composeFirstInput(context)
  const recorder = new UsageRecorder({ database, meter, model: context.model, origin, reply, maxTokens: context.maxTokens })
  if (firstRequest) await recorder.beginCall(() => estimateInput(firstRequest))
  emitStart(input, '', '', origin.agent_id ?? null)
  const writing = { context, firstRequest, reply, recorder, turn: NO_TURN, database, logger, telemetry }
  activeReplies.run(reply, recorder, () => writeReply(writing))
}

/** Nothing waits for a reply outside of a conversation. */
const NO_TURN: Turn = { markStoring() {}, end() {} }

function emitStart({ context, reply }: ReplyInput, conversation_id: string, user_message_id: string, agent_id: string | null): void {
  reply.emit('message_start', { conversation_id, message_id: reply.messageId, user_message_id, model_id: context.model.id, agent_id })
}

/** Returns the current time, or a later one if the clock was set back, so that a new message comes after the previous one. */
export function getTimeAfter(previous: StoredMessage | undefined): string {
  return new Date(Math.max(Date.now(), previous ? Date.parse(previous.timestamp) + 1 : 0)).toISOString()
}
