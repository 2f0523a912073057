/** Protocols of providers that the AI SDK implements. */
import type { RemoteModel } from '../../../providers/remote-model.ts'
import type { ChatRequest } from '../../chat-model.ts'
import type { HttpExchange } from '../http-exchange.ts'
import type { ProviderProtocol, ProviderStream } from '../protocol.ts'
import { buildCallOptions } from './build-call-options.ts'
import { type LanguageModel, loadLanguageModel } from './load-language-model.ts'
import { AiSdkStream } from './stream.ts'

export class AiSdkProtocol implements ProviderProtocol {
  readonly #record: RemoteModel
  readonly #model: LanguageModel
  /** Maps the signal of a `fetch` call to its exchange. */
  readonly #exchanges: WeakMap<AbortSignal, HttpExchange>

  private constructor(record: RemoteModel, model: LanguageModel, exchanges: WeakMap<AbortSignal, HttpExchange>) {
    this.#record = record
    this.#model = model
    this.#exchanges = exchanges
  }

  static async load(record: RemoteModel): Promise<AiSdkProtocol> {
    const exchanges = new WeakMap<AbortSignal, HttpExchange>()
    const fetch: typeof globalThis.fetch = (address, init) =>
      (exchanges.get(init?.signal as AbortSignal) as HttpExchange).fetch(address, init)
    return new AiSdkProtocol(record, await loadLanguageModel(record, fetch), exchanges)
  }

  async open(request: ChatRequest, exchange: HttpExchange): Promise<ProviderStream> {
    this.#exchanges.set(exchange.signal, exchange)
    const { stream } = await this.#model.doStream({ ...buildCallOptions(request), abortSignal: exchange.signal })
    return new AiSdkStream(this.#record, exchange, stream)
  }
}
