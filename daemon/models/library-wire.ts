/** The providers with formats of their own, by the packages of the AI SDK: each is loaded when a model of its provider is first asked. */
import type { createOpenAI } from '@ai-sdk/openai'
import type { RemoteModel } from '../embedding/service.ts'
import type { ChatRequest } from './chat.ts'
import { libraryCall } from './library-call.ts'
import { LibraryReply } from './library-reply.ts'
import { addressOf } from './provider-address.ts'
import type { Exchange } from './provider-exchange.ts'
import type { ProviderReply, ProviderWire } from './provider-wire.ts'

/** What all of them are; the package that defines it is theirs, not ours. */
type LanguageModel = ReturnType<ReturnType<typeof createOpenAI>['chat']>
export type LibraryCall = Parameters<LanguageModel['doStream']>[0]
export type LibraryPart = Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

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

/** Every setting is given: what is left out, the packages look for in the environment. */
async function languageModel({ provider, model_id, endpoint, api_key }: RemoteModel, fetch: typeof globalThis.fetch): Promise<LanguageModel> {
  const settings = { baseURL: addressOf(provider, endpoint), apiKey: api_key ?? 'none', fetch }
  if (provider === 'anthropic') return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model_id)
  if (provider === 'google') return (await import('@ai-sdk/google')).createGoogleGenerativeAI(settings)(model_id)
  return (await import('@ai-sdk/openai')).createOpenAI(settings).chat(model_id)
}
