/** The models of providers, each made when it is first asked and kept while its record stays the same: it learns what its server takes. */
import type { Agent } from 'undici'
import { Connections } from '../../outbound/connections.ts'
import type { Resolve } from '../../outbound/connector.ts'
import { type ProviderTimes, USUAL_TIMES } from './http-exchange.ts'
import { ProviderModel, type ProviderModelRecord } from './provider-chat-model.ts'

export interface ProvidersOptions {
  times?: Partial<ProviderTimes> | undefined
  /** Where names are looked up; the system's resolver unless a test has its own. */
  resolve?: Resolve | undefined
}

export class Providers {
  readonly #times: ProviderTimes
  readonly #connections: Connections
  readonly #made = new Map<string, { recorded: string; model: ProviderModel }>()

  constructor({ times, resolve }: ProvidersOptions = {}) {
    this.#times = { ...USUAL_TIMES, ...times }
    this.#connections = new Connections({ connectMs: this.#times.connectMs, resolve })
  }

  model(record: ProviderModelRecord): ProviderModel {
    const recorded = JSON.stringify(record)
    const made = this.#made.get(record.id)
    if (made?.recorded === recorded) return made.model
    const model = new ProviderModel(record, this.#connections, this.#times)
    this.#made.set(record.id, { recorded, model })
    return model
  }

  forget(id: string): void {
    this.#made.delete(id)
  }

  /** Loads what connections are made of: a twentieth of a second that nobody waits for now. Whoever asks hears what is wrong with it. */
  warm(): void {
    this.connections().catch(() => undefined)
  }

  /** To servers of this machine, for whoever looks for models there. */
  connections(): Promise<Agent> {
    return this.#connections.agent(true)
  }

  /** Ends what is under way. */
  close(): Promise<void> {
    return this.#connections.close()
  }
}
