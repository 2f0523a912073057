/** Chat models of providers, cached until their record changes: they remember what their server does not support. */
import type { Agent } from 'undici'
import { ConnectionPool } from '../../outbound/connection-pool.ts'
import type { Resolve } from '../../outbound/guarded-connector.ts'
import { Telemetry } from '../../telemetry/telemetry.ts'
import { DEFAULT_TIMEOUTS, type ProviderTimeouts } from './http-exchange.ts'
import { ProviderChatModel, type ProviderModelRecord } from './provider-chat-model.ts'

export interface ProviderRegistryOptions {
  timeouts?: Partial<ProviderTimeouts> | undefined
  /** Replaces the system's DNS resolver in tests. */
  resolve?: Resolve | undefined
  telemetry?: Telemetry
}

export class ProviderRegistry {
  readonly #timeouts: ProviderTimeouts
  readonly #connections: ConnectionPool
  readonly #telemetry: Telemetry
  readonly #models = new Map<string, { record: string; model: ProviderChatModel }>()

  constructor({ timeouts, resolve, telemetry = new Telemetry() }: ProviderRegistryOptions = {}) {
    this.#telemetry = telemetry
    this.#timeouts = { ...DEFAULT_TIMEOUTS, ...timeouts }
    this.#connections = new ConnectionPool({ connectTimeoutMs: this.#timeouts.connectMs, resolve })
  }

  getModel(modelRecord: ProviderModelRecord): ProviderChatModel {
    const record = JSON.stringify(modelRecord)
    const cached = this.#models.get(modelRecord.id)
    if (cached?.record === record) return cached.model
    const model = new ProviderChatModel(modelRecord, this.#connections, this.#timeouts, this.#telemetry)
    this.#models.set(modelRecord.id, { record, model })
    return model
  }

  remove(id: string): void {
    this.#models.delete(id)
  }

  /** Loads the HTTP client, which takes about 50 ms. Errors are reported by the first call instead. */
  preload(): void {
    this.getLocalDispatcher().catch(() => undefined)
  }

  /** Returns connections that may use the private network. */
  getLocalDispatcher(): Promise<Agent> {
    return this.#connections.getAgent(true)
  }

  /** Aborts running requests. */
  close(): Promise<void> {
    return this.#connections.close()
  }
}
