/** The models of providers, each made when it is first asked and kept while its record stays the same: it learns what its server takes. */
import type { Agent } from 'undici'
import { ConnectionPool } from '../../outbound/connection-pool.ts'
import type { Resolve } from '../../outbound/guarded-connector.ts'
import { DEFAULT_TIMEOUTS, type ProviderTimeouts } from './http-exchange.ts'
import { ProviderChatModel, type ProviderModelRecord } from './provider-chat-model.ts'

export interface ProviderRegistryOptions {
  timeouts?: Partial<ProviderTimeouts> | undefined
  /** Where names are looked up; the system's resolver unless a test has its own. */
  resolve?: Resolve | undefined
}

export class ProviderRegistry {
  readonly #times: ProviderTimeouts
  readonly #getLocalDispatcher: ConnectionPool
  readonly #made = new Map<string, { recorded: string; getModel: ProviderChatModel }>()

  constructor({ timeouts: times, resolve }: ProviderRegistryOptions = {}) {
    this.#times = { ...DEFAULT_TIMEOUTS, ...times }
    this.#getLocalDispatcher = new ConnectionPool({ connectTimeoutMs: this.#times.connectMs, resolve })
  }

  model(record: ProviderModelRecord): ProviderChatModel {
    const recorded = JSON.stringify(record)
    const made = this.#made.get(record.id)
    if (made?.recorded === recorded) return made.getModel
    const model = new ProviderChatModel(record, this.#getLocalDispatcher, this.#times)
    this.#made.set(record.id, { recorded, getModel: model })
    return model
  }

  remove(id: string): void {
    this.#made.delete(id)
  }

  /** Loads what connections are made of: a twentieth of a second that nobody waits for now. Whoever asks hears what is wrong with it. */
  preload(): void {
    this.connections().catch(() => undefined)
  }

  /** To servers of this machine, for whoever looks for models there. */
  connections(): Promise<Agent> {
    return this.#getLocalDispatcher.getAgent(true)
  }

  /** Ends what is under way. */
  close(): Promise<void> {
    return this.#getLocalDispatcher.close()
  }
}
