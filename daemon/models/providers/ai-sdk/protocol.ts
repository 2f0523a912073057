/** Providers with formats of their own, by the packages of the AI SDK. */
import type { RemoteModel } from '../../../embedding/service.ts'
import type { ChatRequest } from '../../chat-model.ts'
import type { Exchange } from '../http-exchange.ts'
import type { ProviderReply, ProviderWire } from '../protocol.ts'
import { type LanguageModel, languageModel } from './packages.ts'
import { LibraryReply } from './stream.ts'
import { libraryCall } from './to-prompt.ts'

export class LibraryWire implements ProviderWire {
  readonly #record: RemoteModel
  readonly #model: LanguageModel
  /** Finds the exchange that a request of the library belongs to. */
  readonly #exchanges: WeakMap<AbortSignal, Exchange>

  private constructor(record: RemoteModel, model: LanguageModel, exchanges: WeakMap<AbortSignal, Exchange>) {
    this.#record = record
    this.#model = model
    this.#exchanges = exchanges
  }

  static async load(record: RemoteModel): Promise<LibraryWire> {
    const exchanges = new WeakMap<AbortSignal, Exchange>()
    const fetch: typeof globalThis.fetch = (address, init) => (exchanges.get(init?.signal as AbortSignal) as Exchange).fetch(address, init)
    return new LibraryWire(record, await languageModel(record, fetch), exchanges)
  }

  async open(request: ChatRequest, exchange: Exchange): Promise<ProviderReply> {
    this.#exchanges.set(exchange.signal, exchange)
    const { stream } = await this.#model.doStream({ ...libraryCall(request), abortSignal: exchange.signal })
    return new LibraryReply(this.#record, exchange, stream)
  }
}
