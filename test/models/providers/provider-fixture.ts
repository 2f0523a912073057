/** Creates chat models of a scripted provider and collects their replies. */
import * as assert from 'uvu/assert'
import type { ChatInput, ChatModel, ChatPart } from '../../../daemon/models/chat-model.ts'
import type { ProviderTimeouts } from '../../../daemon/models/providers/http-exchange.ts'
import type { ProviderModelRecord } from '../../../daemon/models/providers/provider-chat-model.ts'
import { ProviderRegistry } from '../../../daemon/models/providers/provider-registry.ts'
import type { Resolve } from '../../../daemon/outbound/guarded-connector.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import type { ScriptedProvider } from '../../harness/scripted-provider.ts'

/** Does not occur in any scripted response. */
export const KEY = 'sk-ZQXJ/0123+456789='
const HOUR_MS = 3_600_000
/** Longer than a test takes on any machine. Tests of a timeout set it. */
const TIMEOUTS: ProviderTimeouts = {
  connectMs: HOUR_MS,
  firstByteMs: HOUR_MS,
  idleMs: HOUR_MS,
  totalMs: HOUR_MS,
  retryDelayMs: 5,
  maxRetryDelayMs: 200,
}

export class ProviderFixture {
  readonly providers: ProviderRegistry

  constructor(timeouts: Partial<ProviderTimeouts> = {}, resolve?: Resolve) {
    this.providers = new ProviderRegistry({ timeouts: { ...TIMEOUTS, ...timeouts }, resolve })
  }

  getModel(provider: ScriptedProvider, fields: Partial<ProviderModelRecord> = {}): ChatModel {
    return this.providers.getModel({
      id: 'model_1',
      name: 'Scripted',
      ...provider.model,
      api_key: KEY,
      price: null,
      canCallTools: true,
      canReadImages: null,
      contextTokens: 8_192,
      isContextKnown: false,
      allow_private: true,
      ...fields,
    })
  }

  close(): Promise<void> {
    return this.providers.close()
  }
}

export const createRequest = (content = 'Hello?'): ChatInput => ({ messages: [{ role: 'user', content }] })

export async function collectParts(model: ChatModel, request: ChatInput = createRequest()): Promise<ChatPart[]> {
  const parts: ChatPart[] = []
  for await (const part of model.stream(request)) parts.push(part)
  return parts
}

/** Returns the error of a call that must fail, and the parts before it. The error must not contain the API key. */
export async function captureStreamError(model: ChatModel, request: ChatInput): Promise<{ parts: ChatPart[]; error: CadreError }> {
  const parts: ChatPart[] = []
  try {
    for await (const part of model.stream(request)) parts.push(part)
  } catch (error) {
    assert.instance(error, CadreError)
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
      assert.not(`${cause.stack}${JSON.stringify(cause)}`.includes(KEY), 'the error contains the key')
    return { parts, error: error as CadreError }
  }
  throw new Error(`the call did not fail: ${JSON.stringify(parts)}`)
}

export const joinText = (parts: readonly ChatPart[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
