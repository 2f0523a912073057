/** Conversations: whose they are, with whom, and what was said. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import {
  type Conversation,
  type ConversationCreate,
  type ConversationUpdate,
  conversations,
} from '../../src/contract/families/conversations.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { AgentsService } from '../agents/service.ts'
import type { Caller, Change } from '../core/caller.ts'
import type { DomainEvents, EventBus } from '../core/event-bus.ts'
import { type PrepareContext, Resource } from '../crud/resource.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import type { Page, Scope } from '../store/records.ts'
import type { Replies } from './active-replies.ts'
import { type Library, withStaleness } from './reply/stale-citations.ts'
import {
  conversationRecords,
  countMessages,
  deleteMessagesOf,
  idleConversations,
  messagesOf,
  pageOfMessages,
  type StoredConversation,
  type StoredMessage,
  touchConversation,
} from './store.ts'

type ConversationInput = Static<typeof ConversationCreate> | Static<typeof ConversationUpdate>
type ShownConversation = Static<typeof Conversation>

/** Who talks where the token does not say so. */
const LOCAL_USER = 'local'
const userOf = ({ userId }: Caller): string => userId ?? LOCAL_USER

export interface ConversationsParts {
  database: Database
  agents: AgentsService
  events: EventBus
  replies: Replies
  library: Library
}

export class ConversationsService extends Resource<StoredConversation, ConversationInput, ShownConversation> {
  readonly #parts: ConversationsParts

  constructor(parts: ConversationsParts) {
    const { database, agents } = parts
    super(database, conversations, conversationRecords, {
      prepare: async (record, given, situation) => prepared(agents, record, given, situation),
      getReferences: ({ agent_id }) =>
        agent_id === null ? [] : [{ field: 'agent_id', target: agent_id, detach: { kind: 'value', value: null } }],
      toView: async (reader, { version: _, ...conversation }) => ({
        ...conversation,
        messages: await asTheyStand(parts, reader, await messagesOf(reader, conversation.id)),
      }),
      getLabel: ({ title, id }) => title ?? id,
      getScope: ownOnly,
      beforeRemove: async (transaction, { id }) => deleteMessagesOf(transaction, id),
    })
    this.#parts = parts
  }

  override async list(caller: Caller, { mine, ...query }: ListQuery): Promise<Page<StoredConversation>> {
    const user_id = userOf(caller)
    if (mine && query.user_id !== undefined && query.user_id !== user_id) return { items: [], total: 0 }
    return super.list(caller, mine ? { ...query, user_id } : query)
  }

  async complete(change: Change, id: string): Promise<ShownConversation> {
    return this.modify(change, id, async (current, transaction) => {
      if (current.status !== 'completed')
        await this.#parts.events.publish(transaction, 'conversation.completed', await completion(transaction, current))
      return { ...current, status: 'completed' }
    })
  }

  /** Completes those in which nothing happened since then, one after the other until all are or it is called off. */
  async completeIdle(since: Date, calledOff: () => boolean): Promise<void> {
    for (;;) {
      const idle = await idleConversations(this.database, since.toISOString())
      for (const id of idle) {
        if (calledOff()) return
        await this.database.write(async (transaction) => {
          const current = await this.records.get(transaction, id)
          if (current?.status !== 'active' || current.updated_at >= since.toISOString()) return
          await this.#parts.events.publish(transaction, 'conversation.completed', await completion(transaction, current))
          await this.save(transaction, { ...current, status: 'completed', updated_at: new Date().toISOString() })
        })
      }
      if (idle.length === 0) return
    }
  }

  async messages(caller: Caller, id: string, query: ListQuery): Promise<Page<StoredMessage>> {
    await this.require(this.database, caller, id)
    const { items, total } = await pageOfMessages(this.database, id, query)
    return { items: await asTheyStand(this.#parts, this.database, items), total }
  }

  /** What is being written in it ends first, and what began meanwhile ends after. */
  override async remove(change: Change, id: string, force = false): Promise<string> {
    await this.require(this.database, change.caller, id)
    await this.#parts.replies.abort(id)
    const told = await super.remove(change, id, force)
    await this.#parts.replies.abort(id)
    return told
  }

  /** A message comes: the conversation goes on, also one that was completed. The first message is its title if it has none. */
  async wake(transaction: Transaction, caller: Caller, id: string, now: string, first: string | undefined): Promise<void> {
    const current = await this.require(transaction, caller, id)
    const title = current.title ?? (first === undefined ? null : titleOf(first))
    if (title === current.title) await touchConversation(transaction, id, now, 'active')
    else await this.save(transaction, { ...current, title, status: 'active', updated_at: now })
  }
}

/** Replies that are being written as far as they are, and citations as far as they still hold. */
async function asTheyStand(
  { replies, library }: ConversationsParts,
  reader: Reader,
  messages: readonly StoredMessage[],
): Promise<StoredMessage[]> {
  const written = messages.map((message) => {
    if (message.role !== 'assistant' || message.finish_reason !== undefined) return message
    const reply = replies.find(message.id)
    return reply && !reply.outcome ? reply.draft.message() : message
  })
  return withStaleness(reader, library, written)
}

const LONGEST_TITLE = 80

/** The first line, cut between words. */
function titleOf(message: string): string {
  const line =
    message
      .trim()
      .split(/\r\n|\r|\n/)[0]
      ?.replaceAll(/\s+/g, ' ')
      .trim() ?? ''
  if (line.length <= LONGEST_TITLE) return line
  const cut = line.slice(0, LONGEST_TITLE - 1)
  const space = cut.lastIndexOf(' ')
  return `${(space > LONGEST_TITLE / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`
}

async function completion(
  reader: Reader,
  { id, agent_id, user_id, title }: StoredConversation,
): Promise<DomainEvents['conversation.completed']> {
  return {
    conversation_id: id,
    agent_id,
    user_id,
    title,
    messages: await countMessages(reader, id),
    completed_at: new Date().toISOString(),
  }
}

/** Members see their own conversations; to them the others do not exist. */
function ownOnly({ role, userId }: Caller): Scope {
  return role === 'member' ? { user_id: userId } : {}
}

async function prepared(
  agents: AgentsService,
  record: StoredConversation,
  given: ConversationInput,
  { transaction, caller, current }: PrepareContext<StoredConversation>,
): Promise<StoredConversation> {
  if (current) return record
  const { agent_id, user_id } = given as Static<typeof ConversationCreate>
  if (!(await agents.exists(transaction, agent_id))) throw createValidationError('agent_id', `there is no agent "${agent_id}"`)
  if (caller.role === 'member' && user_id !== undefined && user_id !== caller.userId)
    throw new CadreError('FORBIDDEN', 'A member talks only as itself.', { hint: `Leave user_id out, or send "${caller.userId}".` })
  return { ...record, user_id: user_id ?? userOf(caller), status: 'active' }
}
