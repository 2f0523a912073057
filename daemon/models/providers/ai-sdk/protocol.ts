import type { HttpExchange } from '../http-exchange.ts'
import type { OpenStream } from '../protocol.ts'
import type { RemoteModel } from '../remote-model.ts'
import { buildCallOptions } from './build-call-options.ts'
import { loadLanguageModel } from './load-language-model.ts'
import { AiSdkStream } from './stream.ts'

export async function loadAiSdkProtocol(record: RemoteModel): Promise<OpenStream> {
  /** Maps the signal of a `fetch` call to its exchange. */
  const exchanges = new WeakMap<AbortSignal, HttpExchange>()
  const model = await loadLanguageModel(record, (address, init) =>
    (exchanges.get(init?.signal as AbortSignal) as HttpExchange).fetch(address, init),
  )
  return async (request, exchange) => {
    exchanges.set(exchange.signal, exchange)
    const { stream } = await model.doStream({ ...buildCallOptions(request), abortSignal: exchange.signal })
    return new AiSdkStream(exchange, stream)
  }
}
