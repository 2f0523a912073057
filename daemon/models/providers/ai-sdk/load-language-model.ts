/** Loads the AI SDK package of a provider on first use. */
import type { createOpenAI } from '@ai-sdk/openai'
import { resolveEndpoint } from '../endpoints.ts'
import type { RemoteModel } from '../remote-model.ts'

/** The packages do not export these types. */
type LanguageModel = ReturnType<ReturnType<typeof createOpenAI>['chat']>
export type CallOptions = Parameters<LanguageModel['doStream']>[0]
export type StreamPart = Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

/** Passes every setting, because the packages read missing ones from the environment. */
export async function loadLanguageModel(
  { provider, model_id, endpoint, api_key }: RemoteModel,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModel> {
  const settings = { baseURL: resolveEndpoint(provider, endpoint), apiKey: api_key ?? 'none', fetch }
  if (provider === 'anthropic') return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model_id)
  if (provider === 'google') return (await import('@ai-sdk/google')).createGoogleGenerativeAI(settings)(model_id)
  return (await import('@ai-sdk/openai')).createOpenAI(settings).chat(model_id)
}
