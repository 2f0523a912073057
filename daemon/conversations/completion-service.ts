/** Answers requests that contain all messages, as clients of other protocols send them. Stores them in a conversation if requested. */
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import type { LoadedAgent } from '../agents/service.ts'
import { Toolset } from '../agents/toolset.ts'
import { type Caller, type ChangeContext, getUserId } from '../core/caller.ts'
import { generateId } from '../core/identifiers.ts'
import type { CallOrigin } from '../core/meter.ts'
import { type ChatMessage, type ChatModel, hasImages, requireReadsImages } from '../models/chat-model.ts'
import { addMemories, findMemoryOwner } from './agent-loop/add-memories-to-prompt.ts'
import { createToolsUnsupportedError } from './agent-loop/agent-loop.ts'
import { buildHistory, requireFitsContext } from './agent-loop/compose-input.ts'
import { addSummary } from './agent-loop/summarize-history.ts'
import { createTurnContext, type ReplyOptions, type Responder, type TurnContext } from './agent-loop/turn-context.ts'
import { startInTurn } from './cluster/other-replies.ts'
import { formatQuestion } from './message-images.ts'
import type { Turn } from './message-queue.ts'
import { addToolResults, nameToolResults, type SplitMessages, splitMessages } from './prompt-messages.ts'
import { ActiveReply } from './reply/active-reply.ts'
import { type DeferredReply, deliverReply } from './reply/deliver-reply.ts'
import { MessageDraft } from './reply/message-draft.ts'
import { hasUntrustedText } from './reply/untrusted-messages.ts'
import { type AnswerDependencies, getTimeAfter, startStoredReply, startUnstoredReply } from './start-reply.ts'
import {
  findConversationId,
  findLastQuestionId,
  findMessage,
  listFirstMessages,
  listLastMessages,
  type StoredConversation,
  type StoredMessage,
} from './store.ts'
import { describeHistory, loadMessages } from './summaries/stored-history.ts'

export interface CompletionStorage {
  /** The conversation to continue. Default: a new one. */
  conversationId?: string | undefined
  /** The reply to continue after; its conversation is continued. */
  previousMessageId?: string | undefined
  /** Whether the stored messages precede those of the request. */
  readsHistory: boolean
}

interface CompletionInput {
  target: { kind: 'agent' | 'model'; id: string }
  /** Instructions of the client, in addition to those of the agent. */
  instructions: string
  /** All messages except instructions, oldest first. Names of tool results are added here. */
  messages: readonly ChatMessage[]
  options: ReplyOptions
  stream: boolean
  /** Undefined if the call is not stored. */
  storage: CompletionStorage | undefined
}

export interface Completion {
  messageId: string
  /** Null if the call is not stored. */
  conversationId: string | null
  modelId: string
  response: DeferredReply
}

interface LoadedTarget {
  /** Undefined for a model without an agent. */
  agent?: LoadedAgent['agent']
  responder: Responder
  model: ChatModel
  origin: CallOrigin
}

interface PreparedReply {
  context: TurnContext
  reply: ActiveReply
  origin: CallOrigin
}

export class CompletionsService {
  readonly #dependencies: AnswerDependencies

  constructor(dependencies: AnswerDependencies) {
    this.#dependencies = dependencies
  }

  async start(change: ChangeContext, input: CompletionInput, signal: AbortSignal): Promise<Completion> {
    const target = await this.#load(change.caller, input)
    requireSupported(target, input)
    await this.#dependencies.meter.checkBudget(target.model, target.origin)
    return input.storage
      ? this.#startStored(change, input, target, input.storage, signal)
      : this.#startUnstored(change, input, target, signal)
  }

  async #load(caller: Caller, { target, instructions }: CompletionInput): Promise<LoadedTarget> {
    const { database, agents, models } = this.#dependencies
    const user_id = getUserId(caller)
    if (target.kind === 'model') {
      const responder = { agent: { max_tokens: null, temperature: null }, systemPrompt: instructions, toolset: new Toolset([]) }
      return { responder, model: await models.getChatModel(database, target.id), origin: { user_id } }
    }
    const { agent, systemPrompt, toolset } = await agents.load(database, target.id)
    const responder = { agent, systemPrompt: [systemPrompt, instructions].filter((part) => part !== '').join('\n\n'), toolset }
    const origin = { agent_id: agent.id, prompt_template_id: agent.prompt_template_id, user_id }
    return { agent, responder, model: await models.getChatModel(database, agent.model_id), origin }
  }

  async #startUnstored(change: ChangeContext, input: CompletionInput, target: LoadedTarget, signal: AbortSignal): Promise<Completion> {
    const prompt = splitMessages(nameToolResults(input.messages), hasPassages(target))
    const prepared = prepareReply(change, input, target, prompt, new Date().toISOString())
    const context = await this.#addMemories(change, target, prepared.context, getUserId(change.caller))
    await startUnstoredReply(this.#dependencies, { ...prepared, context })
    return createCompletion(prepared, null, deliverReply(prepared.reply, input.stream, signal))
  }

  async #startStored(
    change: ChangeContext,
    input: CompletionInput,
    target: LoadedTarget,
    storage: CompletionStorage,
    signal: AbortSignal,
  ): Promise<Completion> {
    const { activeReplies, conversations, database } = this.#dependencies
    const { id } = await this.#openConversation(change, input, storage)
    return startInTurn(activeReplies.queue, id, { wait: true }, signal, async (turn) => {
      const conversation = await conversations.require(database, change.caller, id)
      const prepared = await this.#answerInConversation(change, input, target, storage, conversation, turn)
      return createCompletion(prepared, id, deliverReply(prepared.reply, input.stream, signal))
    })
  }

  async #openConversation(change: ChangeContext, { target }: CompletionInput, storage: CompletionStorage): Promise<{ id: string }> {
    const { conversations, database } = this.#dependencies
    if (target.kind === 'model')
      throw createValidationError('store', 'only calls of agents can be stored', 'Omit store, or create an agent with this model.')
    const { previousMessageId } = storage
    const id = previousMessageId === undefined ? storage.conversationId : await findConversationId(database, previousMessageId)
    if (previousMessageId !== undefined && id === undefined) throw createUnknownResponseError()
    if (id === undefined) return conversations.create({ caller: change.caller }, { agent_id: target.id })
    const { agent_id } = await conversations.require(database, change.caller, id).catch((error: unknown) => {
      // The conversation of another user is not named.
      throw previousMessageId === undefined ? error : createUnknownResponseError()
    })
    if (agent_id === target.id) return { id }
    throw createValidationError('model', 'the conversation belongs to another agent', 'Continue it with its agent, or start a new one.')
  }

  async #answerInConversation(
    change: ChangeContext,
    input: CompletionInput,
    target: LoadedTarget,
    { previousMessageId, readsHistory }: CompletionStorage,
    conversation: StoredConversation,
    turn: Turn,
  ): Promise<PreparedReply> {
    const { database } = this.#dependencies
    const [newest] = await listLastMessages(database, conversation.id, 1)
    const loaded = await loadMessages(database, conversation.id, await this.#findNext(conversation.id, previousMessageId))
    const earlier = loaded.messages
    const { completed, others } = addToolResults(earlier.at(-1), input.messages)
    const messages = readsHistory ? [...readHistory(earlier, completed, input, target), ...others] : input.messages
    const prompt = splitMessages(nameToolResults(messages), hasPassages(target))
    const text = formatQuestion(prompt)
    const lastQuestion = earlier.findLast(({ role }) => role === 'user')
    const isNew = readsHistory
      ? others.some(({ role }) => role === 'user')
      : prompt.continuation.length === 0 || lastQuestion?.content !== text
    const now = getTimeAfter(newest)
    // Generated before the id of the reply: messages of the same millisecond are in the order of their ids.
    const questionId = (isNew ? undefined : await findLastQuestionId(database, conversation.id)) ?? generateId('msg')
    const prepared = prepareReply(change, input, target, prompt, now, conversation)
    const position = (isNew ? undefined : lastQuestion) ?? { id: questionId, timestamp: now }
    const past = readsHistory ? describeHistory(conversation.id, target.model, loaded, earlier, position) : undefined
    const withMemory = await this.#addMemories(change, target, prepared.context, conversation.user_id)
    const isUntrusted = prepared.context.hasUntrustedHistory || earlier.some(hasUntrustedText)
    await startStoredReply(this.#dependencies, {
      ...prepared,
      context: { ...addSummary(withMemory, past, database), hasUntrustedHistory: isUntrusted },
      change,
      conversation,
      turn,
      now,
      question: { id: questionId, text: isNew ? text : undefined, isFirst: newest === undefined },
      updated: completed,
    })
    return prepared
  }

  async #addMemories({ caller }: ChangeContext, { agent }: LoadedTarget, context: TurnContext, userId: string): Promise<TurnContext> {
    return agent ? addMemories(context, this.#dependencies.memories, findMemoryOwner({ agent }, caller, userId)) : context
  }

  /** The message after the one that is continued, which is not part of the history. */
  async #findNext(conversationId: string, previousMessageId: string | undefined): Promise<StoredMessage | undefined> {
    const { database } = this.#dependencies
    const previous = previousMessageId === undefined ? undefined : await findMessage(database, conversationId, previousMessageId)
    return previous && (await listFirstMessages(database, conversationId, 1, { after: previous }))[0]
  }
}

function readHistory(
  earlier: readonly StoredMessage[],
  completed: StoredMessage | undefined,
  { options }: CompletionInput,
  { model, responder }: LoadedTarget,
): ChatMessage[] {
  const messages = completed ? [...earlier.slice(0, -1), completed] : earlier
  const clientTools = (options.tools ?? []).map(({ name }) => name)
  return buildHistory(messages, model.canCallTools ? [...responder.toolset.valueToolNames, ...clientTools] : []).flat()
}

function prepareReply(
  { caller }: ChangeContext,
  { options }: CompletionInput,
  { model, responder, origin: targetOrigin }: LoadedTarget,
  prompt: SplitMessages,
  timestamp: string,
  conversation?: StoredConversation,
): PreparedReply {
  requireFitsContext(model, responder.systemPrompt, prompt.question)
  const id = generateId('msg')
  const draft = new MessageDraft({ id, timestamp, model_id: model.id })
  const reply = new ActiveReply(conversation?.id ?? '', id, draft, { isUnattended: true })
  const origin = conversation
    ? { ...targetOrigin, user_id: conversation.user_id, conversation_id: conversation.id, message_id: id }
    : targetOrigin
  const context = createTurnContext(responder, model, prompt, { caller, origin, signal: reply.signal }, options)
  return { context, reply, origin }
}

const createCompletion = ({ reply, context }: PreparedReply, conversationId: string | null, response: DeferredReply): Completion => ({
  messageId: reply.messageId,
  conversationId,
  modelId: context.model.id,
  response,
})

const createUnknownResponseError = () =>
  new CadreError('NOT_FOUND', 'There is no stored response with this previous_response_id.', {
    details: [{ field: 'previous_response_id', problem: 'does not exist' }],
    hint: 'Only responses with store: true are stored.',
  })

const hasPassages = ({ responder }: LoadedTarget): boolean => responder.toolset.retrievalTools.length > 0

/** The embedded model quotes documents; it cannot do what only generative models can. */
function requireSupported({ model, responder }: LoadedTarget, { messages, options }: CompletionInput): void {
  const { tools = [], sampling } = options
  if (tools.length > 0 && !model.canCallTools) throw createToolsUnsupportedError({ model })
  const names = tools.map(({ name }) => name)
  const taken = names.find((name, index) => responder.toolset.names.includes(name) || names.indexOf(name) !== index)
  if (taken !== undefined)
    throw createValidationError('tools', `the name "${taken}" is taken by another tool`, 'Rename the tool: the agent has its own tools.')
  if (hasImages({ messages })) requireReadsImages(model, 'messages')
  if (model.id === EMBEDDED_MODEL_ID && sampling?.responseFormat)
    throw createValidationError('response_format', `the model "${model.name}" quotes documents and cannot write JSON`, 'Use another model.')
}
