/** How a provider is asked and its reply read, whatever its format. */
import type { ChatPart, ChatRequest } from '../chat-model.ts'
import type { HttpExchange } from './http-exchange.ts'

export interface ProviderProtocol {
  /** Sends the request; where it is refused, throws. */
  open(request: ChatRequest, exchange: HttpExchange): Promise<ProviderStream>
}

/** Part by part, until it says that it is over. What fails throws a failure of the provider. */
export interface ProviderStream {
  /** Nothing when it is over. */
  next(): Promise<ChatPart | undefined>
  /** To be called in any case; ends what still runs. */
  close(): void
}
