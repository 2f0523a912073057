/** Creates the conversations family: its services and routes, recovery at startup and shutdown. */
import type { AgentsService } from '../agents/service.ts'
import { createRecurringTask } from '../async/recurring-task.ts'
import type { Meter } from '../core/meter.ts'
import type { MemoriesService } from '../memories/service.ts'
import type { ModelsService } from '../models/service.ts'
import type { Shared } from '../shared-services.ts'
import { ActiveReplies } from './active-replies.ts'
import { type AskOnce, askOnce } from './agent-loop/ask-once.ts'
import { ReplyRelay } from './cluster/reply-relay.ts'
import { REPLY_REQUESTS } from './cluster/reply-requests.ts'
import { CompletionsService } from './completion-service.ts'
import { type ConfirmBody, MessagesService } from './message-service.ts'
import { markInterruptedReplies } from './reply/mark-interrupted-replies.ts'
import type { QuoteVerifier } from './reply/mark-stale-citations.ts'
import { bindConversationRoutes } from './routes.ts'
import { hasUnindexedMessages, indexNextMessages } from './search/message-index-store.ts'
import { ConversationsService } from './service.ts'
import { CompactService } from './summaries/compact-service.ts'

const IDLE_CHECK_INTERVAL_MS = 60_000

interface ConversationsFamilyDependencies extends Shared<'database' | 'cluster' | 'events' | 'clock' | 'logger' | 'telemetry'> {
  agents: AgentsService
  models: ModelsService
  memories: MemoriesService
  quoteVerifier: QuoteVerifier
  meter: Meter
  /** Minutes after which an idle conversation is completed; 0 disables it. */
  getIdleMinutes(): Promise<number>
}

export function createConversations(dependencies: ConversationsFamilyDependencies) {
  const { database, agents, models, memories, quoteVerifier, meter, events, cluster, clock, logger, telemetry, getIdleMinutes } =
    dependencies
  const activeReplies = new ActiveReplies(database, cluster, logger)
  const service = new ConversationsService({ database, cluster, agents, events, activeReplies, quoteVerifier })
  const replies = { database, cluster, conversations: service, agents, models, memories, meter, activeReplies, logger, telemetry }
  const messages = new MessagesService(replies)
  const relay = new ReplyRelay({ database, cluster, activeReplies, logger })
  cluster.requests.handle(REPLY_REQUESTS.confirm, async ({ target, data }) => messages.confirmHere(target, data as ConfirmBody))
  const completeIdle = async (signal: AbortSignal) => {
    const minutes = await getIdleMinutes()
    if (minutes > 0) await service.completeIdle(new Date(clock.now() - minutes * 60_000), signal)
  }
  const idleCheck = createRecurringTask(clock, IDLE_CHECK_INTERVAL_MS, (signal) =>
    completeIdle(signal).catch((error: unknown) => logger.error({ err: error }, 'idle conversations could not be completed')),
  )
  const closing = new AbortController()
  let indexing = Promise.resolve()
  /** Indexes the messages that were stored before the index existed. Continues where the last daemon stopped. */
  const indexOlderMessages = async () => {
    while (!closing.signal.aborted && (await hasUnindexedMessages(database))) await database.writeWithoutFlush(indexNextMessages)
  }
  return {
    service,
    completions: new CompletionsService(replies),
    bindings: bindConversationRoutes(service, messages, new CompactService(replies)),
    askOnce: ((input) => askOnce({ database, meter, memories, logger, telemetry }, input)) satisfies AskOnce,
    countReplies: () => activeReplies.count,
    /** Must run before the usage ledger recovers, which settles the remaining open calls. */
    async recover() {
      const count = await markInterruptedReplies(database, meter)
      if (count > 0) logger.warn({ replies: count }, 'unfinished replies were marked as interrupted')
      await relay.removeEndedFollowers()
    },
    /** Also completes conversations that became idle while no daemon ran. */
    start() {
      idleCheck.start()
      relay.start()
      indexing = indexOlderMessages().catch((error: unknown) =>
        logger.error({ err: error }, 'older messages could not be indexed for search'),
      )
    },
    async close() {
      closing.abort()
      await Promise.all([idleCheck.close(), activeReplies.close(), indexing])
      await relay.close()
    },
  }
}
