/** Messages: sending one, following its reply, and allowing what the reply asks for. */
import type { Static } from 'typebox'
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import type { ToolCall } from '../../src/contract/families/conversations.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import type { AgentsService } from '../agents/service.ts'
import type { Caller, Change } from '../core/caller.ts'
import { Later } from '../core/deferred-reply.ts'
import { newId } from '../core/identifiers.ts'
import type { CallOrigin, Meter } from '../core/meter.ts'
import type { Logger } from '../logging/logger.ts'
import type { ModelsService } from '../models/service.ts'
import type { Database } from '../store/database.ts'
import { checkText } from '../store/records.ts'
import type { Replies } from './active-replies.ts'
import { firstRequest } from './agent-loop/agent-loop.ts'
import { requireRoom, turnsOf } from './agent-loop/context-window.ts'
import { Books } from './agent-loop/reply-persistence.ts'
import type { Scene } from './agent-loop/turn-context.ts'
import { write } from './agent-loop/write-reply.ts'
import type { Turn } from './message-queue.ts'
import { outcomeOf, retold, type Told } from './replay-stored-reply.ts'
import { type Outcome, Reply } from './reply/active-reply.ts'
import { Draft } from './reply/message-draft.ts'
import type { ConversationsService } from './service.ts'
import { insertMessage, lastMessagesOf, messageOf, questionBefore, type StoredConversation, type StoredMessage } from './store.ts'

/** How far back a conversation is read at all. */
const MOST_MESSAGES = 400

export interface MessagesParts {
  database: Database
  conversations: ConversationsService
  agents: AgentsService
  models: ModelsService
  meter: Meter
  replies: Replies
  logger: Logger
}

interface Sent {
  message: string
  stream?: boolean
  wait?: boolean
  model_id?: string
}

/** What a message is answered with: the whole reply, or its events. */
type Answered = Later<StoredMessage> | Later<AsyncIterable<StreamEvent>>

export class MessagesService {
  readonly #parts: MessagesParts

  constructor(parts: MessagesParts) {
    this.#parts = parts
  }

  /** Stores the message and starts its reply, which goes on for as long as somebody follows it. */
  async send(
    change: Change,
    id: string,
    { message, stream = false, wait = false, model_id }: Sent,
    signal: AbortSignal,
  ): Promise<Answered> {
    const { database, conversations, replies, models } = this.#parts
    checkText('message', message)
    await conversations.require(database, change.caller, id)
    if (model_id !== undefined && change.caller.role === 'member')
      throw new CadreError('FORBIDDEN', "A member talks with the agent's own model.", { hint: 'Leave model_id out.' })
    const chosen = model_id === undefined ? undefined : await models.resolve(database, model_id, 'model_id')
    const turn = await replies.turns.take(id, wait, signal)
    try {
      signal.throwIfAborted()
      const reply = await this.#begin(change, await conversations.require(database, change.caller, id), message, chosen, turn)
      return followed(reply, stream, signal)
    } catch (error) {
      turn.end()
      throw error
    }
  }

  /** The reply that a repeated request asks for: joined while it is written, told again when it is done. */
  async rejoin(caller: Caller, id: string, messageId: string, stream: boolean, signal: AbortSignal): Promise<Answered> {
    const running = this.#parts.replies.find(messageId)
    if (running) return followed(running, stream, signal)
    const told = await this.#stored(caller, id, messageId)
    if (!stream) return new Later(async () => succeeded(told.outcome))
    return new Later(async () => (told.outcome.message.content === '' ? succeeded(told.outcome) && retold(told) : retold(told)))
  }

  /** Follows a reply from its beginning, or from the event after the one of that id. */
  async events(caller: Caller, id: string, messageId: string, lastEventId: string | undefined): Promise<AsyncIterable<StreamEvent>> {
    await this.#parts.conversations.require(this.#parts.database, caller, id)
    const after = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : 0
    const reply = await this.#parts.replies.join(messageId)
    if (reply?.conversationId === id) return reply.follow(after)
    return retold(await this.#stored(caller, id, messageId), after)
  }

  /** Allows or refuses a tool call that waits for it. */
  async confirm(caller: Caller, id: string, messageId: string, callId: string, allow: boolean): Promise<Static<typeof ToolCall>> {
    const { database, conversations, replies } = this.#parts
    await conversations.require(database, caller, id)
    const reply = replies.find(messageId)
    if (reply?.conversationId === id && !reply.outcome) return reply.answer(callId, allow)
    if (!(await messageOf(database, id, messageId))) throw createNotFoundError('message', messageId)
    throw new CadreError('CONFLICT', 'This reply is not being written any more; nothing waits to be allowed.')
  }

  async #begin(change: Change, conversation: StoredConversation, message: string, chosen: string | undefined, turn: Turn): Promise<Reply> {
    const { database, meter, models, agents, replies, logger, conversations } = this.#parts
    if (conversation.agent_id === null)
      throw new CadreError('CONFLICT', 'The agent of this conversation was deleted.', { hint: 'Start a conversation with another agent.' })
    const agent = await agents.atWork(database, conversation.agent_id)
    const model = await models.chat(database, chosen ?? agent.modelId)
    requireRoom(model, agent.prompt, message)
    const [userMessageId, messageId] = [newId('msg'), newId('msg')]
    const origin: CallOrigin = {
      agent_id: agent.id,
      user_id: conversation.user_id,
      conversation_id: conversation.id,
      message_id: messageId,
      ...(agent.templateId === null ? {} : { prompt_template_id: agent.templateId }),
    }
    await meter.admit(model, origin)
    const now = new Date().toISOString()
    const reply = new Reply(conversation.id, messageId, new Draft({ id: messageId, timestamp: now, model_id: model.id }))
    const earlier = await lastMessagesOf(database, conversation.id, MOST_MESSAGES)
    const scene: Scene = {
      model,
      toolset: agent.toolset,
      system: agent.prompt,
      past: turnsOf(earlier, model.callsTools ? agent.toolset.plain : []),
      question: message,
      contextTokens: model.contextTokens,
      maxTokens: agent.maxTokens,
      temperature: agent.temperature,
      use: { caller: change.caller, origin, signal: reply.signal },
    }
    const first = firstRequest(scene)
    const books = new Books({ database, meter, model, origin, reply })
    const underWay = replies.expect(messageId)
    try {
      await database.write(async (transaction) => {
        await conversations.wake(transaction, change.caller, conversation.id, now, earlier.length === 0 ? message : undefined)
        await insertMessage(transaction, conversation.id, { id: userMessageId, role: 'user', content: message, timestamp: now })
        await books.open(transaction, first)
        await change.remember?.(transaction, { message_id: messageId })
      })
      reply.say('message_start', {
        conversation_id: conversation.id,
        message_id: messageId,
        user_message_id: userMessageId,
        model_id: model.id,
        agent_id: agent.id,
      })
      replies.run(reply, books, () => write({ scene, first, reply, books, turn, logger }).finally(turn.end))
    } finally {
      underWay()
    }
    return reply
  }

  /** A reply that nobody holds any more, from the store. */
  async #stored(caller: Caller, id: string, messageId: string): Promise<Told> {
    const { database, conversations } = this.#parts
    const { agent_id } = await conversations.require(database, caller, id)
    const message = await messageOf(database, id, messageId)
    if (message?.role !== 'assistant') throw createNotFoundError('reply', messageId)
    const user_message_id = (await questionBefore(database, id, message)) ?? messageId
    return {
      outcome: outcomeOf(message),
      start: { conversation_id: id, message_id: messageId, user_message_id, model_id: message.model_id ?? '', agent_id },
    }
  }
}

/** Joins a reply before anything else happens, so that nobody takes it for abandoned. */
function followed(reply: Reply, stream: boolean, signal: AbortSignal): Answered {
  if (!stream) {
    const outcome = reply.whole(signal)
    outcome.catch(() => undefined) // whoever asked has gone
    return new Later(async () => succeeded(await outcome))
  }
  const follower = reply.follow()
  const leave = () => void follower.return?.()
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave() // while the message was stored
  return new Later(async () => {
    await reply.begun()
    if (reply.outcome?.failure && reply.log.length === SILENT) throw reply.outcome.failure
    return follower
  })
}

/** A reply that failed before its first word has said that it began and that it failed. */
const SILENT = 2

function succeeded({ message, failure }: Outcome): StoredMessage {
  if (failure) throw failure
  return message
}
