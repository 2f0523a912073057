/** Context windows of models whose record does not set one. */
import type { ContextWindow } from './chat-model.ts'

/** Local servers start with a small context window by default and truncate longer requests silently. */
const DEFAULT_CONTEXT_TOKENS = 8_192

/** The first pattern that matches the model's name counts. */
const CONTEXT_TOKENS_BY_PROVIDER: Readonly<Record<string, readonly (readonly [RegExp, number])[]>> = {
  openai: [
    [/gpt-4\.1/, 1_047_576],
    [/gpt-5-chat/, 128_000],
    [/gpt-5/, 400_000],
    [/(^|[/:-])o[134](-|$)/, 200_000],
    [/gpt-3\.5/, 16_385],
    [/gpt-4(-0\d{3})?$/, 8_192],
    [/./, 128_000],
  ],
  anthropic: [[/./, 200_000]],
  google: [
    [/gemma/, 8_192],
    [/./, 1_048_576],
  ],
}

export function getContextWindow(provider: string, model: string, declaredTokens: number | null): ContextWindow {
  const tokens = declaredTokens ?? CONTEXT_TOKENS_BY_PROVIDER[provider]?.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1]
  return { contextTokens: tokens ?? DEFAULT_CONTEXT_TOKENS, isContextKnown: tokens !== undefined }
}
