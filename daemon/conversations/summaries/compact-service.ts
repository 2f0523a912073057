/** Summarizes the earlier messages of a conversation on demand. */
import type { Static } from 'typebox'
import { CadreError } from '../../../src/contract/errors.ts'
import type { Conversation, conversationRoutes } from '../../../src/contract/families/conversations.ts'
import { EMBEDDED_MODEL_ID } from '../../../src/contract/families/models.ts'
import type { ChangeContext } from '../../core/caller.ts'
import type { CallOrigin } from '../../core/meter.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import { requireNoOtherReply } from '../cluster/other-replies.ts'
import type { AnswerDependencies } from '../start-reply.ts'
import { listLastMessages, type StoredConversation } from '../store.ts'
import { extendSummary, type WriteSummary } from './extend-summary.ts'
import { findSummary } from './store.ts'
import { getEnd } from './stored-history.ts'

/** The latest turns stay word for word. */
const KEPT_TURNS = 2
/** Enough to contain the latest turns, even if replies to them failed. */
const MAX_LAST_MESSAGES = 50

type CompactBody = Static<typeof conversationRoutes.compact.body>

export class CompactService {
  readonly #dependencies: AnswerDependencies

  constructor(dependencies: AnswerDependencies) {
    this.#dependencies = dependencies
  }

  async compact({ caller, storeResponse }: ChangeContext, id: string, body: CompactBody, signal: AbortSignal): Promise<Conversation> {
    const { database, cluster, conversations, activeReplies } = this.#dependencies
    const conversation = await conversations.require(database, caller, id)
    const { model, origin } = await this.#loadModel(conversation)
    const turn = await activeReplies.queue.acquireTurn(id, false, signal)
    try {
      await requireNoOtherReply(cluster, database, id)
      await this.#summarize(id, model, origin, body.instructions, signal)
      return await conversations.modify({ caller, storeResponse }, id, async (current) => current)
    } finally {
      turn.end()
    }
  }

  async #loadModel({ id, agent_id, user_id }: StoredConversation): Promise<{ model: ChatModel; origin: CallOrigin }> {
    const { database, agents, models } = this.#dependencies
    if (agent_id === null) throw new CadreError('CONFLICT', 'The agent of this conversation was deleted.')
    const { agent } = await agents.load(database, agent_id)
    const model = await models.getChatModel(database, agent.model_id)
    if (model.id === EMBEDDED_MODEL_ID)
      throw new CadreError('CONFLICT', `The model "${model.name}" quotes documents and cannot summarize.`, {
        hint: 'Use an agent with a chat model.',
      })
    return { model, origin: { agent_id, prompt_template_id: agent.prompt_template_id, user_id, conversation_id: id } }
  }

  async #summarize(id: string, model: ChatModel, origin: CallOrigin, instructions: string | undefined, signal: AbortSignal): Promise<void> {
    const { database } = this.#dependencies
    const previous = await findSummary(database, id)
    const latest = await listLastMessages(database, id, MAX_LAST_MESSAGES, { after: previous && getEnd(previous) })
    const until = latest.filter(({ role }) => role === 'user').at(-KEPT_TURNS)
    const hasMore = until !== undefined && latest.indexOf(until) > 0
    const canRewrite = previous !== undefined && instructions !== undefined
    if (!hasMore && !canRewrite)
      throw new CadreError('CONFLICT', 'There is nothing to summarize.', {
        hint: `The latest ${KEPT_TURNS} messages and their replies stay as they are.`,
      })
    const write = this.#createWriter(model, origin, signal)
    const end = until ?? latest[0] ?? getEnd(previous as NonNullable<typeof previous>)
    await extendSummary({ reader: database, conversationId: id, model, previous, until: end, instructions, write })
  }

  #createWriter(model: ChatModel, origin: CallOrigin, signal: AbortSignal): WriteSummary {
    const { database, models, meter } = this.#dependencies
    return async (request, store) => {
      const { text, unsettled } = await models.generateUnsettled(model, { ...request, origin, signal })
      await database.write(async (transaction) => {
        await meter.settle(transaction, unsettled.entry, unsettled.call)
        await store(transaction, text)
      })
    }
  }
}
