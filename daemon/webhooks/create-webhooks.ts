/** Creates the webhooks family: the outbox, the dispatcher, the event stream, services and routes. */
import { createRecurringTask } from '../async/recurring-task.ts'
import type { Shared } from '../shared-services.ts'
import { createDeliveriesService } from './delivery-service.ts'
import { Dispatcher, type DispatcherDependencies } from './dispatcher.ts'
import { EventLog } from './event-log.ts'
import { fillOutbox } from './outbox.ts'
import { deleteEventsBefore } from './outbox-store.ts'
import { bindWebhookRoutes } from './routes.ts'
import { WebhooksService } from './service.ts'

/** Streams also send the events of other daemons. */
const POLL_INTERVAL_MS = 1_000
const DAY_MS = 24 * 60 * 60 * 1000
/** Of events and deliveries. Longer than the retry schedule, so that no pending delivery is deleted. */
const RETENTION_MS = 30 * DAY_MS

export function createWebhooks(dependencies: DispatcherDependencies & Shared<'events'>) {
  const { database, cluster, events, clock, logger } = dependencies
  const dispatcher = new Dispatcher(dependencies)
  const service = new WebhooksService({ ...dependencies, dispatcher })
  const deliveries = createDeliveriesService({ ...dependencies, webhooks: service, dispatcher })
  const eventLog = new EventLog(database)
  const retention = createRecurringTask(clock, DAY_MS, () =>
    deleteEventsBefore(database, new Date(clock.now() - RETENTION_MS).toISOString()).catch((error: unknown) =>
      logger.error({ err: error }, 'old events could not be deleted'),
    ),
  )
  fillOutbox(events, database, clock, () => {
    dispatcher.wake()
    eventLog.wake()
  })
  let stopPolling = () => {}
  return {
    service,
    bindings: bindWebhookRoutes(service, deliveries, eventLog),
    start() {
      dispatcher.start()
      retention.start()
      stopPolling = cluster.poll(POLL_INTERVAL_MS, () => eventLog.wake())
    },
    /** Ends event streams immediately, then waits for running deliveries. */
    async close() {
      stopPolling()
      eventLog.close()
      await Promise.all([dispatcher.close(), retention.close()])
    },
  }
}
