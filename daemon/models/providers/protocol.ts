/** The interface of provider protocols: a function that opens a stream, and the stream. */
import type { ChatInput, ChatPart } from '../chat-model.ts'
import type { HttpExchange } from './http-exchange.ts'

/** Sends the request. Throws if the response has an error status. */
export type OpenStream = (request: ChatInput, exchange: HttpExchange) => Promise<ProviderStream>

export interface ProviderStream {
  /** Returns undefined at the end. Throws a ProviderError if the stream fails. */
  next(): Promise<ChatPart | undefined>
  /** Must always be called; aborts the request if it is still running. */
  close(): void
}
