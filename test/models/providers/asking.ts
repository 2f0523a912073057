/** Models of a scripted provider, and everything one of them says. */
import type { ChatModel, ChatPart, ChatRequest } from '../../../daemon/models/chat-model.ts'
import type { ProviderTimes } from '../../../daemon/models/providers/http-exchange.ts'
import type { ProviderModelRecord } from '../../../daemon/models/providers/provider-chat-model.ts'
import { Providers } from '../../../daemon/models/providers/registry.ts'
import type { Resolve } from '../../../daemon/outbound/connector.ts'
import type { ScriptedProvider } from '../../harness/provider.ts'

/** No character of it is in what a test scripts. */
export const KEY = 'sk-ZQXJ/0123+456789='
export const TIMES: ProviderTimes = {
  connectMs: 1_000,
  firstByteMs: 10_000,
  idleMs: 10_000,
  wholeMs: 20_000,
  pauseMs: 5,
  longestPauseMs: 200,
}

/** All that a test asked for ends with it. */
export class Asking {
  readonly providers: Providers

  constructor(times: Partial<ProviderTimes> = {}, resolve?: Resolve) {
    this.providers = new Providers({ times: { ...TIMES, ...times }, resolve })
  }

  model(provider: ScriptedProvider, fields: Partial<ProviderModelRecord> = {}): ChatModel {
    return this.providers.model({
      id: 'model_1',
      name: 'Scripted',
      ...provider.model,
      api_key: KEY,
      price: null,
      callsTools: true,
      contextTokens: 8_192,
      contextKnown: false,
      allow_private: true,
      ...fields,
    })
  }

  end(): Promise<void> {
    return this.providers.close()
  }
}

export const question = (content = 'Hello?'): ChatRequest => ({ messages: [{ role: 'user', content }] })

export async function heard(model: ChatModel, request: ChatRequest = question()): Promise<ChatPart[]> {
  const parts: ChatPart[] = []
  for await (const part of model.stream(request)) parts.push(part)
  return parts
}

export const textOf = (parts: readonly ChatPart[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
