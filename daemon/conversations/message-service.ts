/** Sends messages, follows their replies and answers confirmations of tool calls. */
import type { Static } from 'typebox'
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import type { conversationRoutes, ToolCall } from '../../src/contract/families/conversations.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import type { AgentsService } from '../agents/service.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import { DeferredResponse } from '../core/deferred-response.ts'
import { generateId } from '../core/identifiers.ts'
import type { CallOrigin, Meter } from '../core/meter.ts'
import type { Logger } from '../logging/logger.ts'
import type { ModelsService } from '../models/service.ts'
import type { Database } from '../store/database.ts'
import { checkText } from '../store/records.ts'
import type { ActiveReplies } from './active-replies.ts'
import { composeFirstRequest } from './agent-loop/agent-loop.ts'
import { buildHistory, requireFitsContext } from './agent-loop/context-window.ts'
import { ReplyRecorder } from './agent-loop/reply-recorder.ts'
import { createTurnContext } from './agent-loop/turn-context.ts'
import { writeReply } from './agent-loop/write-reply.ts'
import type { Turn } from './message-queue.ts'
import { getOutcome, replayStoredReply, type StoredReply } from './replay-stored-reply.ts'
import { ActiveReply, type ReplyOutcome } from './reply/active-reply.ts'
import { MessageDraft } from './reply/message-draft.ts'
import type { ConversationsService } from './service.ts'
import { findMessage, findQuestionId, insertMessage, listLastMessages, type StoredConversation, type StoredMessage } from './store.ts'

const MAX_HISTORY_MESSAGES = 400

interface MessagesDependencies {
  database: Database
  conversations: ConversationsService
  agents: AgentsService
  models: ModelsService
  meter: Meter
  activeReplies: ActiveReplies
  logger: Logger
}

/** The complete reply, or its events. */
type DeferredReply = DeferredResponse<StoredMessage> | DeferredResponse<AsyncIterable<StreamEvent>>

export class MessagesService {
  readonly #dependencies: MessagesDependencies

  constructor(dependencies: MessagesDependencies) {
    this.#dependencies = dependencies
  }

  /** Stores the message and starts its reply, which is aborted when its last follower leaves. */
  async send(
    change: ChangeContext,
    id: string,
    { message, stream = false, wait = false, model_id }: Static<typeof conversationRoutes.send.body>,
    signal: AbortSignal,
  ): Promise<DeferredReply> {
    const { database, conversations, activeReplies, models } = this.#dependencies
    checkText('message', message)
    await conversations.require(database, change.caller, id)
    if (model_id !== undefined && change.caller.role === 'member')
      throw new CadreError('FORBIDDEN', 'Members cannot choose another model.', { hint: 'Omit model_id.' })
    const modelId = model_id === undefined ? undefined : await models.resolve(database, model_id, 'model_id')
    const turn = await activeReplies.queue.acquireTurn(id, wait, signal)
    try {
      signal.throwIfAborted()
      const reply = await this.#startReply(change, await conversations.require(database, change.caller, id), message, modelId, turn)
      return followReply(reply, stream, signal)
    } catch (error) {
      turn.end()
      throw error
    }
  }

  /** The reply of a repeated request: followed while it is written, replayed when it has ended. */
  async rejoin(caller: Caller, id: string, messageId: string, stream: boolean, signal: AbortSignal): Promise<DeferredReply> {
    const running = this.#dependencies.activeReplies.find(messageId)
    if (running) return followReply(running, stream, signal)
    const stored = await this.#loadStoredReply(caller, id, messageId)
    if (!stream) return new DeferredResponse(async () => requireSuccess(stored.outcome))
    return new DeferredResponse(async () =>
      stored.outcome.message.content === '' ? requireSuccess(stored.outcome) && replayStoredReply(stored) : replayStoredReply(stored),
    )
  }

  /** Follows a reply from its first event, or from the event after `lastEventId`. */
  async followEvents(caller: Caller, id: string, messageId: string, lastEventId: string | undefined): Promise<AsyncIterable<StreamEvent>> {
    await this.#dependencies.conversations.require(this.#dependencies.database, caller, id)
    const after = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : 0
    const reply = await this.#dependencies.activeReplies.findAnnounced(messageId)
    if (reply?.conversationId === id) return reply.follow(after)
    return replayStoredReply(await this.#loadStoredReply(caller, id, messageId), after)
  }

  /** Answers a tool call that waits for confirmation. */
  async confirm(caller: Caller, id: string, messageId: string, callId: string, allow: boolean): Promise<ToolCall> {
    const { database, conversations, activeReplies } = this.#dependencies
    await conversations.require(database, caller, id)
    const reply = activeReplies.find(messageId)
    if (reply?.conversationId === id && !reply.outcome) return reply.answerConfirmation(callId, allow)
    if (!(await findMessage(database, id, messageId))) throw createNotFoundError('message', messageId)
    throw new CadreError('CONFLICT', 'This reply has ended; no tool call waits for confirmation.')
  }

  async #startReply(
    change: ChangeContext,
    conversation: StoredConversation,
    message: string,
    modelId: string | undefined,
    turn: Turn,
  ): Promise<ActiveReply> {
    const { database, meter, models, agents, activeReplies, logger, conversations } = this.#dependencies
    if (conversation.agent_id === null)
      throw new CadreError('CONFLICT', 'The agent of this conversation was deleted.', { hint: 'Start a conversation with another agent.' })
    const loadedAgent = await agents.load(database, conversation.agent_id)
    const { agent, systemPrompt, toolset } = loadedAgent
    const model = await models.getChatModel(database, modelId ?? agent.model_id)
    requireFitsContext(model, systemPrompt, message)
    const [userMessageId, messageId] = [generateId('msg'), generateId('msg')]
    const origin: CallOrigin = {
      agent_id: agent.id,
      prompt_template_id: agent.prompt_template_id,
      user_id: conversation.user_id,
      conversation_id: conversation.id,
      message_id: messageId,
    }
    await meter.checkBudget(model, origin)
    const now = new Date().toISOString()
    const reply = new ActiveReply(conversation.id, messageId, new MessageDraft({ id: messageId, timestamp: now, model_id: model.id }))
    const earlier = await listLastMessages(database, conversation.id, MAX_HISTORY_MESSAGES)
    const history = buildHistory(earlier, model.canCallTools ? toolset.valueToolNames : [])
    const toolUse = { caller: change.caller, origin, signal: reply.signal }
    const context = createTurnContext(loadedAgent, model, { question: message, history }, toolUse)
    const firstRequest = composeFirstRequest(context)
    const recorder = new ReplyRecorder({ database, meter, model, origin, reply })
    const endAnnouncement = activeReplies.announce(messageId)
    try {
      await database.write(async (transaction) => {
        await conversations.resume(transaction, change.caller, conversation.id, now, earlier.length === 0 ? message : undefined)
        await insertMessage(transaction, conversation.id, { id: userMessageId, role: 'user', content: message, timestamp: now })
        await recorder.insertReply(transaction, firstRequest)
        await change.storeResponse?.(transaction, { message_id: messageId })
      })
      reply.emit('message_start', {
        conversation_id: conversation.id,
        message_id: messageId,
        user_message_id: userMessageId,
        model_id: model.id,
        agent_id: agent.id,
      })
      activeReplies.run(reply, recorder, () => writeReply({ context, firstRequest, reply, recorder, turn, logger }).finally(turn.end))
    } finally {
      endAnnouncement()
    }
    return reply
  }

  /** Loads a reply that is no longer in memory. */
  async #loadStoredReply(caller: Caller, id: string, messageId: string): Promise<StoredReply> {
    const { database, conversations } = this.#dependencies
    const { agent_id } = await conversations.require(database, caller, id)
    const message = await findMessage(database, id, messageId)
    if (message?.role !== 'assistant') throw createNotFoundError('reply', messageId)
    const user_message_id = (await findQuestionId(database, id, message)) ?? messageId
    return {
      outcome: getOutcome(message),
      start: { conversation_id: id, message_id: messageId, user_message_id, model_id: message.model_id ?? '', agent_id },
    }
  }
}

/** Follows the reply synchronously, so that it is not aborted for lack of followers. */
function followReply(reply: ActiveReply, stream: boolean, signal: AbortSignal): DeferredReply {
  if (!stream) {
    const outcome = reply.waitForOutcome(signal)
    outcome.catch(() => undefined) // the client disconnected
    return new DeferredResponse(async () => requireSuccess(await outcome))
  }
  const follower = reply.follow()
  const leave = () => void follower.return?.()
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  return new DeferredResponse(async () => {
    await reply.waitForFirstEvent()
    if (reply.outcome?.failure && reply.events.length === EVENTS_BEFORE_TEXT) throw reply.outcome.failure
    return follower
  })
}

/** Number of events of a reply that failed before its first text: message_start and error. */
const EVENTS_BEFORE_TEXT = 2

function requireSuccess({ message, failure }: ReplyOutcome): StoredMessage {
  if (failure) throw failure
  return message
}
