/** Conversations: whose they are, with whom, and what was said. */
import type { Static } from 'typebox'
import { type Conversation, type ConversationCreate, type ConversationUpdate, conversations } from '../../src/contract/conversations.ts'
import { CadreError, invalid } from '../../src/contract/errors.ts'
import type { ListQuery } from '../../src/contract/page.ts'
import type { AgentsService } from '../agents/service.ts'
import type { Caller, Change } from '../caller.ts'
import { Resource, type Situation } from '../crud/service.ts'
import type { DomainEvents, EventBus } from '../event-bus.ts'
import type { Database, Reader } from '../store/database.ts'
import type { Page, Scope } from '../store/records.ts'
import { conversationRecords, countMessages, deleteMessagesOf, messagesOf, pageOfMessages, type StoredConversation, type StoredMessage } from './store.ts'

type ConversationInput = Static<typeof ConversationCreate> | Static<typeof ConversationUpdate>
type ShownConversation = Static<typeof Conversation>

/** Who talks when neither the request nor the token says so. */
const LOCAL_USER = 'local'

export class ConversationsService extends Resource<StoredConversation, ConversationInput, ShownConversation> {
  readonly #events: EventBus

  constructor(database: Database, agents: AgentsService, events: EventBus) {
    super(database, conversations, conversationRecords, {
      prepare: async (record, given, situation) => prepared(agents, record, given, situation),
      references: ({ agent_id }) => (agent_id === null ? [] : [{ field: 'agent_id', target: agent_id, detach: { kind: 'value', value: null } }]),
      show: async (reader, { version: _, ...conversation }) => ({ ...conversation, messages: await messagesOf(reader, conversation.id) }),
      label: ({ title, id }) => title ?? id,
      scope: ownOnly,
      remove: async (transaction, { id }) => deleteMessagesOf(transaction, id),
    })
    this.#events = events
  }

  async complete(change: Change, id: string): Promise<ShownConversation> {
    return this.modify(change, id, async (current, transaction) => {
      if (current.status !== 'completed') await this.#events.publish(transaction, 'conversation.completed', await completion(transaction, current))
      return { ...current, status: 'completed' }
    })
  }

  async messages(caller: Caller, id: string, query: ListQuery): Promise<Page<StoredMessage>> {
    await this.require(this.database, caller, id)
    return pageOfMessages(this.database, id, query)
  }
}

async function completion(reader: Reader, { id, agent_id, user_id, title }: StoredConversation): Promise<DomainEvents['conversation.completed']> {
  return { conversation_id: id, agent_id, user_id, title, messages: await countMessages(reader, id), completed_at: new Date().toISOString() }
}

/** Members see their own conversations; to them the others do not exist. */
function ownOnly({ role, userId }: Caller): Scope {
  return role === 'member' ? { user_id: userId } : {}
}

async function prepared(
  agents: AgentsService,
  record: StoredConversation,
  given: ConversationInput,
  { transaction, caller, current }: Situation<StoredConversation>,
): Promise<StoredConversation> {
  if (current) return record
  const { agent_id, user_id } = given as Static<typeof ConversationCreate>
  if (!(await agents.exists(transaction, agent_id))) throw invalid('agent_id', `there is no agent "${agent_id}"`)
  if (caller.role === 'member' && user_id !== undefined && user_id !== caller.userId)
    throw new CadreError('FORBIDDEN', 'A member talks only as itself.', { hint: `Leave user_id out, or send "${caller.userId}".` })
  return { ...record, user_id: user_id ?? caller.userId ?? LOCAL_USER, status: 'active' }
}
