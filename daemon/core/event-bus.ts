/** Domain events. Listeners run in the transaction that causes the event, so both are stored or neither. */
import type { WebhookEventData, WebhookEventName } from '../../src/contract/webhook-events.ts'
import type { Transaction } from '../store/database.ts'

type Listener<N extends WebhookEventName> = (transaction: Transaction, data: WebhookEventData[N]) => Promise<void>

export class EventBus {
  readonly #listeners = new Map<WebhookEventName, Listener<WebhookEventName>[]>()

  on<N extends WebhookEventName>(name: N, listener: Listener<N>): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener as unknown as Listener<WebhookEventName>])
  }

  async publish<N extends WebhookEventName>(transaction: Transaction, name: N, data: WebhookEventData[N]): Promise<void> {
    for (const listener of this.#listeners.get(name) ?? []) await listener(transaction, data)
  }
}
