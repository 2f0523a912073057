/** Conversations and their messages. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { type Conversation, type ConversationCreate, conversations, MAX_MESSAGES } from '../../src/contract/families/conversations.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { AgentsService } from '../agents/service.ts'
import { type Caller, type ChangeContext, getUserId } from '../core/caller.ts'
import { type FamilyInput, type PrepareContext, Resource } from '../crud/resource.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader, Transaction } from '../store/database.ts'
import { listNullable } from '../store/links.ts'
import type { Page, Scope } from '../store/records.ts'
import type { ActiveReplies } from './active-replies.ts'
import { requireNoOtherReply } from './cluster/other-replies.ts'
import { markStaleCitations, type QuoteVerifier } from './reply/mark-stale-citations.ts'
import { searchConversations } from './search/search-conversations.ts'
import {
  conversationRecords,
  countMessages,
  deleteMessage,
  deleteMessages,
  findConversationId,
  findMessage,
  findQuestion,
  findQuestionId,
  listIdleConversations,
  listLastMessages,
  listMessagePage,
  type StoredConversation,
  type StoredMessage,
  touchConversation,
} from './store.ts'
import { findSummary } from './summaries/store.ts'

const MAX_TITLE_LENGTH = 80

type ConversationInput = FamilyInput<typeof conversations>

interface ConversationsDependencies extends Shared<'database' | 'cluster' | 'events'> {
  agents: AgentsService
  activeReplies: ActiveReplies
  quoteVerifier: QuoteVerifier
}

export class ConversationsService extends Resource<StoredConversation, ConversationInput, Conversation> {
  readonly #dependencies: ConversationsDependencies

  constructor(dependencies: ConversationsDependencies) {
    const { database, agents } = dependencies
    super(database, conversations, conversationRecords, {
      prepare: async (record, input, context) => prepareConversation(agents, record, input, context),
      getReferences: ({ agent_id }) => listNullable({ agent_id }),
      toView: async (reader, { version: _, deleted_agent_id: __, ...conversation }) => {
        const messages = await listLastMessages(reader, conversation.id, MAX_MESSAGES)
        return {
          ...conversation,
          messages: await refreshMessages(dependencies, reader, messages),
          message_count: messages.length < MAX_MESSAGES ? messages.length : await countMessages(reader, conversation.id),
          // Without messages there is none.
          summary: messages.length === 0 ? null : await getSummary(reader, conversation.id),
        }
      },
      getLabel: ({ title, id }) => title ?? id,
      getScope: scopeToCaller,
      beforeRemove: async (transaction, { id }) => deleteMessages(transaction, id),
    })
    this.#dependencies = dependencies
  }

  override async list(caller: Caller, query: ListQuery): Promise<Page<StoredConversation>> {
    const { mine, agent_id, q, start_date, end_date, ...others } = query
    const user_id = getUserId(caller)
    if (mine && others.user_id !== undefined && others.user_id !== user_id) return { items: [], total: 0 }
    const filter = { ...others, ...(await this.#filterByAgent(agent_id)), ...(mine ? { user_id } : {}) }
    if (typeof q === 'string') return searchConversations(this.database, { ...query, q }, (subset) => super.list(caller, filter, subset))
    if (start_date !== undefined || end_date !== undefined)
      throw createValidationError(start_date === undefined ? 'end_date' : 'start_date', 'requires q, the words to search for')
    return super.list(caller, filter)
  }

  /** Conversations of a deleted agent are found by its id, too. */
  async #filterByAgent(id: unknown): Promise<Partial<StoredConversation>> {
    if (typeof id !== 'string') return {}
    return (await this.#dependencies.agents.exists(this.database, id)) ? { agent_id: id } : { deleted_agent_id: id }
  }

  async complete(change: ChangeContext, id: string): Promise<Conversation> {
    return this.modify(change, id, async (current, transaction) => {
      if (current.status !== 'completed') await this.#publishCompleted(transaction, current)
      return { ...current, status: 'completed' }
    })
  }

  /** Completes all conversations without activity since then, one at a time, until the signal is aborted. */
  async completeIdle(since: Date, signal: AbortSignal): Promise<void> {
    for (;;) {
      const idle = await listIdleConversations(this.database, since.toISOString())
      for (const id of idle) {
        if (signal.aborted) return
        await this.database.write(async (transaction) => {
          const current = await this.records.get(transaction, id)
          if (current?.status !== 'active' || current.updated_at >= since.toISOString()) return
          await this.#publishCompleted(transaction, current)
          await this.save(transaction, { ...current, status: 'completed', updated_at: new Date().toISOString() })
        })
      }
      if (idle.length === 0) return
    }
  }

  async listMessages(caller: Caller, id: string, query: ListQuery): Promise<Page<StoredMessage>> {
    await this.require(this.database, caller, id)
    const { items, total } = await listMessagePage(this.database, id, query)
    return { items: await refreshMessages(this.#dependencies, this.database, items), total }
  }

  /** Finds a reply in the conversations of the caller. */
  async findReply(caller: Caller, messageId: string): Promise<{ conversation: StoredConversation; reply: StoredMessage } | undefined> {
    const id = await findConversationId(this.database, messageId)
    const conversation = id === undefined ? undefined : await this.records.get(this.database, id, scopeToCaller(caller))
    const message = conversation && (await findMessage(this.database, conversation.id, messageId))
    if (!conversation || message?.role !== 'assistant') return undefined
    const [reply = message] = await refreshMessages(this.#dependencies, this.database, [message])
    return { conversation, reply }
  }

  /** Also deletes the question if no other reply answers it, and then the conversation if it is empty. */
  async removeReply(change: ChangeContext, conversationId: string, messageId: string, signal: AbortSignal): Promise<void> {
    const { activeReplies } = this.#dependencies
    const turn = await activeReplies.queue.acquireTurn(conversationId, false, signal)
    try {
      const isEmpty = await this.database.write(async (transaction) => {
        await requireNoOtherReply(this.#dependencies.cluster, transaction, conversationId)
        const reply = await findMessage(transaction, conversationId, messageId)
        if (!reply) return false // deleted in the meantime
        const questionId = await findQuestionId(transaction, conversationId, reply)
        await deleteMessage(transaction, messageId)
        if (questionId !== undefined && !(await findQuestion(transaction, conversationId, questionId))?.reply)
          await deleteMessage(transaction, questionId)
        await touchConversation(transaction, conversationId, new Date().toISOString())
        return (await countMessages(transaction, conversationId)) === 0
      })
      activeReplies.forget(messageId)
      if (isEmpty) await this.remove(change, conversationId)
    } finally {
      turn.end()
    }
  }

  /** Aborts active replies before the deletion, and afterwards those that started in the meantime. */
  override async remove(change: ChangeContext, id: string, force = false): Promise<string> {
    await this.require(this.database, change.caller, id)
    await this.#dependencies.activeReplies.abortEverywhere(id)
    const warning = await super.remove(change, id, force)
    await this.#dependencies.activeReplies.abortEverywhere(id)
    return warning
  }

  /** A new message reactivates a completed conversation; the first message becomes its title if it has none. */
  async resume(transaction: Transaction, caller: Caller, id: string, now: string, first: string | undefined): Promise<void> {
    const current = await this.require(transaction, caller, id)
    const title = current.title ?? (first === undefined ? null : deriveTitle(first))
    if (title === current.title) await touchConversation(transaction, id, now, 'active')
    else await this.save(transaction, { ...current, title, status: 'active', updated_at: now })
  }

  async #publishCompleted(transaction: Transaction, { id, agent_id, user_id, title }: StoredConversation): Promise<void> {
    const messages = await countMessages(transaction, id)
    const event = { conversation_id: id, agent_id, user_id, title, messages, completed_at: new Date().toISOString() }
    await this.#dependencies.events.publish(transaction, 'conversation.completed', event)
  }
}

/** The first line of the first message, truncated at a word boundary. */
function deriveTitle(message: string): string {
  const [firstLine = ''] = message.trim().split(/\r\n|\r|\n/)
  const line = firstLine.replaceAll(/\s+/g, ' ').trim()
  if (line.length <= MAX_TITLE_LENGTH) return line
  const cut = line.slice(0, MAX_TITLE_LENGTH - 1)
  const space = cut.lastIndexOf(' ')
  return `${(space > MAX_TITLE_LENGTH / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`
}

/** The summary as callers see it. */
async function getSummary(reader: DatabaseReader, id: string): Promise<Conversation['summary']> {
  const { last_created_at: _, has_untrusted_text: __, ...summary } = (await findSummary(reader, id)) ?? {}
  return 'content' in summary ? summary : null
}

/** Replaces active replies by their current draft and marks stale citations. */
async function refreshMessages(
  { activeReplies, quoteVerifier }: ConversationsDependencies,
  reader: DatabaseReader,
  messages: readonly StoredMessage[],
): Promise<StoredMessage[]> {
  const current = messages.map((message) => {
    if (message.role !== 'assistant' || message.finish_reason !== undefined) return message
    const reply = activeReplies.find(message.id)
    return reply && !reply.outcome ? reply.draft.toMessage() : message
  })
  return markStaleCitations(reader, quoteVerifier, current)
}

/** Members see only their own conversations. */
function scopeToCaller({ role, userId }: Caller): Scope {
  return role === 'member' ? { user_id: userId } : {}
}

async function prepareConversation(
  agents: AgentsService,
  record: StoredConversation,
  input: ConversationInput,
  { transaction, caller, current }: PrepareContext<StoredConversation>,
): Promise<StoredConversation> {
  if (current) return record
  const { agent_id, user_id } = input as Static<typeof ConversationCreate>
  if (!(await agents.exists(transaction, agent_id))) throw createValidationError('agent_id', `there is no agent "${agent_id}"`)
  if (caller.role === 'member' && user_id !== undefined && user_id !== caller.userId)
    throw new CadreError('FORBIDDEN', 'Members can create conversations only for themselves.', {
      hint: `Omit user_id, or send "${caller.userId}".`,
    })
  return { ...record, user_id: user_id ?? getUserId(caller), status: 'active' }
}
