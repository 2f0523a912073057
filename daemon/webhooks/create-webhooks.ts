/** Creates the webhooks family: the outbox, the dispatcher, the event stream, services and routes. */
import type { EventBus } from '../core/event-bus.ts'
import { DeliveriesService } from './delivery-service.ts'
import { Dispatcher, type DispatcherDependencies } from './dispatcher.ts'
import { EventLog } from './event-log.ts'
import { createRetentionTask } from './event-retention.ts'
import { Outbox } from './outbox.ts'
import { bindWebhookRoutes } from './routes.ts'
import { WebhooksService } from './service.ts'

/** Streams also send the events of other daemons. */
const POLL_INTERVAL_MS = 1_000

interface WebhooksFamilyDependencies extends DispatcherDependencies {
  events: EventBus
}

export function createWebhooks(dependencies: WebhooksFamilyDependencies) {
  const { database, cluster, events, clock, logger } = dependencies
  const dispatcher = new Dispatcher(dependencies)
  const service = new WebhooksService({ ...dependencies, dispatcher })
  const deliveries = new DeliveriesService({ ...dependencies, webhooks: service, dispatcher })
  const eventLog = new EventLog(database)
  const retention = createRetentionTask(database, clock, logger)
  const outbox = new Outbox(database, clock, () => {
    dispatcher.wake()
    eventLog.wake()
  })
  outbox.listen(events)
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
