/** The provider packages of the AI SDK, each loaded when a model of its provider is first asked. */
import type { createOpenAI } from '@ai-sdk/openai'
import type { RemoteModel } from '../../../providers/remote-model.ts'
import { resolveEndpoint } from '../../../providers/endpoints.ts'

/** What all of them are; the package that defines it is theirs, not ours. */
export type LanguageModel = ReturnType<ReturnType<typeof createOpenAI>['chat']>
export type CallOptions = Parameters<LanguageModel['doStream']>[0]
export type StreamPart = Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

/** Every setting is given: what is left out, the packages look for in the environment. */
export async function loadLanguageModel(
  { provider, model_id, endpoint, api_key }: RemoteModel,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModel> {
  const settings = { baseURL: resolveEndpoint(provider, endpoint), apiKey: api_key ?? 'none', fetch }
  if (provider === 'anthropic') return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model_id)
  if (provider === 'google') return (await import('@ai-sdk/google')).createGoogleGenerativeAI(settings)(model_id)
  return (await import('@ai-sdk/openai')).createOpenAI(settings).chat(model_id)
}
