/** Reads the token counts that a provider reports. */
import type { TokenUsage } from '../chat-model.ts'

/** Returns undefined if nothing plausible was reported; the usage is then estimated. */
export function parseUsage(input: unknown, output: unknown, cached: unknown): TokenUsage | undefined {
  const [inputTokens, outputTokens, cachedTokens] = [parseTokens(input), parseTokens(output), parseTokens(cached)]
  return inputTokens + outputTokens === 0 ? undefined : { inputTokens, outputTokens, cachedTokens }
}

const parseTokens = (value: unknown): number => (Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0)
