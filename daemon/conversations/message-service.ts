/** Sends messages, follows their replies and answers confirmations of tool calls. */
import type { Static } from 'typebox'
import { CadreError, createNotFoundError, createValidationError } from '../../src/contract/errors.ts'
import type { conversationRoutes } from '../../src/contract/families/conversations.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import type { MessageImage } from '../../src/contract/schemas/images.ts'
import { isComplete } from '../../src/contract/schemas/messages.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import { DeferredResponse } from '../core/deferred-response.ts'
import { generateId } from '../core/identifiers.ts'
import type { CallOrigin } from '../core/meter.ts'
import { requireReadsImages } from '../models/chat-model.ts'
import { checkText } from '../store/records.ts'
import { addMemories, findMemoryOwner } from './agent-loop/add-memories-to-prompt.ts'
import { buildHistory, omitRepeatedFailures, requireFitsContext } from './agent-loop/compose-input.ts'
import { addSummary } from './agent-loop/summarize-history.ts'
import { createTurnContext } from './agent-loop/turn-context.ts'
import { startInTurn } from './cluster/other-replies.ts'
import type { ConfirmedToolCall } from './cluster/remote-replies.ts'
import { formatQuestion, removeImageMarkers, requireNoImages, requireTotalSize } from './message-images.ts'
import type { Turn } from './message-queue.ts'
import { ActiveReply } from './reply/active-reply.ts'
import { type DeferredReply, deliverReply } from './reply/deliver-reply.ts'
import { MessageDraft } from './reply/message-draft.ts'
import { replayStoredReply } from './reply/replay-stored-reply.ts'
import { loadStoredReply, resumeReply } from './reply/resume-reply.ts'
import { hasUntrustedText } from './reply/untrusted-messages.ts'
import { type AnswerDependencies, getTimeAfter, startStoredReply } from './start-reply.ts'
import { findLastQuestionId, findMessage, findQuestion, type StoredConversation, type StoredMessage } from './store.ts'
import { describeHistory, loadMessages } from './summaries/stored-history.ts'

type SendBody = Static<typeof conversationRoutes.send.body>
export type ConfirmBody = Static<typeof conversationRoutes.confirm.body>

/** A new message, or one that is answered again. */
type Question =
  | { text: string; images: readonly MessageImage[] }
  | (NonNullable<Awaited<ReturnType<typeof findQuestion>>> & { images: readonly MessageImage[] })

/** What is stored for an Idempotency-Key. Version 0.1 stored only the id of the reply. */
export interface StoredSend {
  message_id: string
  user_message_id?: string
}

export class MessagesService {
  readonly #dependencies: AnswerDependencies

  constructor(dependencies: AnswerDependencies) {
    this.#dependencies = dependencies
  }

  /** Stores the message and starts its reply, which is aborted when its last follower leaves. */
  async send(change: ChangeContext, id: string, body: SendBody, signal: AbortSignal): Promise<DeferredReply> {
    const { message, retry = false, replace = false, images = [] } = body
    if (message === undefined && !retry && !replace) throw createValidationError('message', 'is required')
    if (message !== undefined) checkText('message', message)
    if (message === undefined && images.length > 0) throw createValidationError('message', 'is required with images')
    requireTotalSize(images)
    const { database, conversations, activeReplies } = this.#dependencies
    await conversations.require(database, change.caller, id)
    const repeated = retry || replace ? await this.#findRepeatedQuestion(change, id, replace ? {} : body) : undefined
    if (repeated !== undefined) return (await this.#answerAgain(change, id, repeated, body, signal)).response
    if (message === undefined || replace)
      throw new CadreError('CONFLICT', `There is no message to ${replace ? 'replace' : 'retry'}.`, { hint: 'Send a message first.' })
    const modelId = await this.#resolveModel(change.caller, body)
    return startInTurn(activeReplies.queue, id, { wait: body.wait === true }, signal, async (turn) => {
      const conversation = await conversations.require(database, change.caller, id)
      const reply = await this.#startReply(change, conversation, { text: message, images }, modelId, turn)
      return deliverReply(reply, body.stream === true, signal)
    })
  }

  /** Answers a repeated request with the same Idempotency-Key. */
  async resend(
    change: ChangeContext,
    id: string,
    { message_id, user_message_id }: StoredSend,
    body: SendBody,
    signal: AbortSignal,
  ): Promise<{ response: DeferredReply; isReplayed: boolean }> {
    await this.#dependencies.conversations.require(this.#dependencies.database, change.caller, id)
    const questionId = user_message_id ?? (await loadStoredReply(this.#dependencies, change.caller, id, message_id)).start.user_message_id
    return this.#answerAgain(change, id, questionId, { ...body, replace: false }, signal)
  }

  resumeReply(caller: Caller, id: string, messageId: string, lastEventId: string | undefined): Promise<AsyncIterable<StreamEvent>> {
    return resumeReply(this.#dependencies, caller, id, messageId, lastEventId)
  }

  /** Answers a tool call that waits for confirmation. Without an answer, describes it with other arguments. */
  async confirm(caller: Caller, id: string, messageId: string, answer: ConfirmBody): Promise<ConfirmedToolCall> {
    const { allow, arguments: args } = answer
    if (allow === undefined && args === undefined) throw createValidationError('allow', 'is required without arguments')
    if (allow === false && args !== undefined) throw createValidationError('arguments', 'are not accepted if the call is refused')
    const { database, conversations, activeReplies } = this.#dependencies
    await conversations.require(database, caller, id)
    const reply = activeReplies.find(messageId)
    if (reply?.conversationId === id) return this.confirmHere(messageId, answer)
    if (!(await findMessage(database, id, messageId))) throw createNotFoundError('message', messageId)
    return (await activeReplies.remote.confirm(messageId, answer)) ?? this.confirmHere(messageId, answer)
  }

  /** Answers a tool call of a reply that this daemon writes. */
  confirmHere(messageId: string, { tool_call_id, allow, arguments: args }: ConfirmBody): ConfirmedToolCall {
    const reply = this.#dependencies.activeReplies.find(messageId)
    if (!reply || reply.outcome) throw new CadreError('CONFLICT', 'This reply has ended; no tool call waits for confirmation.')
    const { confirmations } = reply
    return allow === undefined ? confirmations.preview(tool_call_id, args ?? {}) : confirmations.answer(tool_call_id, allow, args)
  }

  async #resolveModel({ role }: Caller, { model_id }: SendBody): Promise<string | undefined> {
    if (model_id === undefined) return undefined
    if (role === 'member') throw new CadreError('FORBIDDEN', 'Members cannot choose another model.', { hint: 'Omit model_id.' })
    return this.#dependencies.models.resolve(this.#dependencies.database, model_id, 'model_id')
  }

  /** Finds the last message if it is the one to retry, and stores it for the Idempotency-Key of the request. */
  async #findRepeatedQuestion(change: ChangeContext, id: string, { message, images = [] }: SendBody): Promise<string | undefined> {
    const { database } = this.#dependencies
    const last = await findLastQuestionId(database, id)
    const found = last === undefined ? undefined : await findQuestion(database, id, last)
    if (!found || (message !== undefined && found.question.content !== formatQuestion({ question: message, images }))) return undefined
    const { storeResponse } = change
    const response: StoredSend = { message_id: found.reply?.id ?? '', user_message_id: found.question.id }
    if (storeResponse) await database.write((transaction) => storeResponse(transaction, response))
    return found.question.id
  }

  /** The reply to a stored message: followed while it is written, replayed if complete, generated again if it failed or is replaced. */
  async #answerAgain(
    change: ChangeContext,
    id: string,
    questionId: string,
    body: SendBody,
    signal: AbortSignal,
  ): Promise<{ response: DeferredReply; isReplayed: boolean }> {
    const { database, conversations, activeReplies } = this.#dependencies
    const { stream = false, wait = false, replace = false, images = [] } = body
    const { reply } = await this.#requireQuestion(id, questionId)
    const active = reply && (await activeReplies.findAnnounced(reply.id))
    const existing = reply && !replace ? await this.#deliverExisting(change.caller, id, reply, active, stream, signal) : undefined
    if (existing) return { response: existing, isReplayed: true }
    const modelId = await this.#resolveModel(change.caller, body)
    // An aborted reply has the turn until its end is stored.
    const waits = { wait, waitsForTurn: wait || (active !== undefined && !active.outcome) }
    return startInTurn(activeReplies.queue, id, waits, signal, async (turn) => {
      const conversation = await conversations.require(database, change.caller, id)
      const question = await this.#requireQuestion(id, questionId)
      if (question.reply && !replace && isComplete(question.reply)) {
        turn.end()
        return { response: await this.#replay(change.caller, id, question.reply.id, stream), isReplayed: true }
      }
      const content = replace && body.message !== undefined ? formatQuestion({ question: body.message, images }) : question.question.content
      const asked = { ...question, question: { ...question.question, content }, images }
      const newReply = await this.#startReply(change, conversation, asked, modelId, turn)
      return { response: deliverReply(newReply, stream, signal), isReplayed: false }
    })
  }

  /** Delivers a reply that is being written here or by another daemon, or that is complete. Returns undefined if it failed. */
  async #deliverExisting(
    caller: Caller,
    id: string,
    reply: StoredMessage,
    active: ActiveReply | undefined,
    stream: boolean,
    signal: AbortSignal,
  ): Promise<DeferredReply | undefined> {
    if (active) {
      const isUsable = active.outcome ? isComplete(active.outcome.message) : !active.signal.aborted
      return isUsable ? deliverReply(active, stream, signal) : undefined
    }
    if (isComplete(reply)) return this.#replay(caller, id, reply.id, stream)
    if (reply.finish_reason !== undefined) return undefined
    const load = () => loadStoredReply(this.#dependencies, caller, id, reply.id)
    return (await this.#dependencies.activeReplies.remote.follow(reply.id, load))?.toResponse(stream, signal)
  }

  async #requireQuestion(id: string, questionId: string) {
    const found = await findQuestion(this.#dependencies.database, id, questionId)
    if (!found) throw createNotFoundError('message', questionId)
    return found
  }

  async #replay(caller: Caller, id: string, messageId: string, stream: boolean): Promise<DeferredReply> {
    const stored = await loadStoredReply(this.#dependencies, caller, id, messageId)
    return stream ? new DeferredResponse(async () => replayStoredReply(stored)) : new DeferredResponse(async () => stored.outcome.message)
  }

  /** A reply that is generated again replaces the failed one, so that the message is stored and counted once. */
  async #startReply(
    change: ChangeContext,
    conversation: StoredConversation,
    asked: Question,
    modelId: string | undefined,
    turn: Turn,
  ): Promise<ActiveReply> {
    const { database, meter, models, agents, memories } = this.#dependencies
    if (conversation.agent_id === null)
      throw new CadreError('CONFLICT', 'The agent of this conversation was deleted.', { hint: 'Start a conversation with another agent.' })
    const loadedAgent = await agents.load(database, conversation.agent_id)
    const { agent, systemPrompt, toolset } = loadedAgent
    const model = await models.getChatModel(database, modelId ?? agent.model_id)
    const repeated = 'question' in asked ? asked : undefined
    const { images } = asked
    if (images.length > 0) requireReadsImages(model, 'images')
    if (repeated && images.length === 0) requireNoImages(repeated.question)
    const message = 'question' in asked ? removeImageMarkers(asked.question.content, images) : asked.text
    requireFitsContext(model, systemPrompt, message)
    const [userMessageId, messageId] = [repeated?.question.id ?? generateId('msg'), generateId('msg')]
    const origin: CallOrigin = {
      agent_id: agent.id,
      prompt_template_id: agent.prompt_template_id,
      user_id: conversation.user_id,
      conversation_id: conversation.id,
      message_id: messageId,
    }
    await meter.checkBudget(model, origin)
    const loaded = await loadMessages(database, conversation.id, repeated?.question)
    const earlier = loaded.messages
    const now = getTimeAfter(repeated?.question ?? earlier.at(-1))
    // A reply stays next to its message if the conversation has continued since.
    const timestamp = repeated?.reply && !repeated.isLast ? repeated.reply.timestamp : now
    const draft = new MessageDraft({ id: messageId, timestamp, model_id: model.id }, repeated?.reply)
    const reply = new ActiveReply(conversation.id, messageId, draft)
    const read = omitRepeatedFailures(earlier, message)
    const history = buildHistory(read, model.canCallTools ? toolset.valueToolNames : [])
    const toolUse = { caller: change.caller, origin, signal: reply.signal }
    const past = describeHistory(conversation.id, model, loaded, read, repeated?.question ?? { id: userMessageId, timestamp: now })
    const prompt = { question: message, images, history, hasUntrustedHistory: read.some(hasUntrustedText) }
    const owner = findMemoryOwner(loadedAgent, change.caller, conversation.user_id)
    const withMemory = await addMemories(createTurnContext(loadedAgent, model, prompt, toolUse), memories, owner)
    const context = addSummary(withMemory, past, database)
    const text = repeated ? undefined : formatQuestion({ question: message, images })
    const question = { id: userMessageId, text, isFirst: earlier.length === 0 && !loaded.summary }
    await startStoredReply(this.#dependencies, {
      change,
      conversation,
      context,
      reply,
      origin,
      turn,
      now,
      question,
      replaced: repeated?.reply,
      updated: repeated?.question,
    })
    return reply
  }
}
