/** Domain events. Listeners run in the transaction that causes the event, so both are stored or neither. */
import type { Transaction } from '../store/database.ts'

export interface DomainEvents {
  'conversation.completed': {
    conversation_id: string
    agent_id: string | null
    user_id: string
    title: string | null
    messages: number
    completed_at: string
  }
  'evaluation.finished': {
    evaluation_id: string
    run_id: string
    name: string
    status: string
    summary: Record<string, unknown>
    finished_at: string
  }
  'usage.threshold_exceeded': {
    threshold_id: string
    entity_type: string | null
    entity_id: string | null
    metric: string
    limit: number
    value: number
    period: string
    period_start: string
    action: string
  }
}

export type EventName = keyof DomainEvents
type Listener<N extends EventName> = (transaction: Transaction, data: DomainEvents[N]) => Promise<void>

export class EventBus {
  readonly #listeners = new Map<EventName, Listener<EventName>[]>()

  on<N extends EventName>(name: N, listener: Listener<N>): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener as unknown as Listener<EventName>])
  }

  async publish<N extends EventName>(transaction: Transaction, name: N, data: DomainEvents[N]): Promise<void> {
    for (const listener of this.#listeners.get(name) ?? []) await listener(transaction, data)
  }
}
