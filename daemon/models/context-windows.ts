/** How much models can read at once, where their record does not say: by the names that providers give them. */
import type { ContextWindow } from './chat-model.ts'

/** Servers at home are started with little unless somebody says otherwise, and cut off what is more without a word. */
const LOCAL = 8_192

/** The first that fits a name counts. */
const KNOWN: Readonly<Record<string, readonly (readonly [RegExp, number])[]>> = {
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

export function getContextWindow(provider: string, model: string, declared: number | null): ContextWindow {
  const known = declared ?? KNOWN[provider]?.find(([name]) => name.test(model.toLowerCase()))?.[1]
  return { contextTokens: known ?? LOCAL, isContextKnown: known !== undefined }
}
