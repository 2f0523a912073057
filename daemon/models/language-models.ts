/** The provider packages of the AI SDK, each loaded when a model of its provider is first asked. */
import type { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { CadreError } from '../../src/contract/errors.ts'
import type { RemoteModel } from '../embedding/service.ts'

/** What all of them are; the package that defines it is theirs, not ours. */
export type LanguageModel = ReturnType<ReturnType<typeof createOpenAICompatible>['chatModel']>
export type WireCall = Parameters<LanguageModel['doStream']>[0]
export type WirePart = Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

export const ADDRESSES: Readonly<Record<string, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  ollama: 'http://127.0.0.1:11434/v1',
}

/** Every setting is given: what is left out, the packages look for in the environment. */
export async function languageModel(
  { provider, model_id, endpoint, api_key }: RemoteModel,
  fetch: typeof globalThis.fetch,
  countsTokens: boolean,
): Promise<LanguageModel> {
  const baseURL = addressOf(provider, endpoint)
  const settings = { baseURL, apiKey: api_key ?? 'none', fetch }
  switch (provider) {
    case 'openai':
      return (await import('@ai-sdk/openai')).createOpenAI(settings).chat(model_id)
    case 'anthropic':
      return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model_id)
    case 'google':
      return (await import('@ai-sdk/google')).createGoogleGenerativeAI(settings)(model_id)
    default: {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return createOpenAICompatible({ ...settings, name: 'server', includeUsage: countsTokens }).chatModel(model_id)
    }
  }
}

export function addressOf(provider: string, endpoint: string | null): string {
  const address = endpoint ?? ADDRESSES[provider]
  if (address === undefined) throw new CadreError('VALIDATION_ERROR', `A model of the provider ${provider} needs an endpoint.`)
  const url = new URL(address)
  // People know Ollama by its bare address, as its own tools do.
  if (provider === 'ollama' && url.pathname === '/') url.pathname = '/v1'
  return url.href.replace(/\/+$/, '')
}
