/** How many tokens a text has, near enough to trim by and to count what no provider counted. */
import type { CallUsage } from '../core/meter.ts'
import type { TokenUsage } from './chat-model.ts'

/** Letters that tokenizers take about one token each for: Han, kana, Hangul, Thai, Lao, Khmer, Myanmar. */
const DENSE =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[\ud840-\ud87f][\udc00-\udfff]/g
const LATIN_LETTERS_A_TOKEN = 4
/** Greek, Cyrillic, Arabic, Devanagari and the like are cut shorter. */
const OTHER_LETTERS_A_TOKEN = 2.5
/** What stands around every message on the wire: its role and its borders. */
const TOKENS_A_MESSAGE = 4

export function estimateTokens(text: string): number {
  if (text === '') return 0
  // Most texts are ASCII to the last letter, and one look tells.
  const wide = text.match(/[^\u0000-\u024f\u2010-\u2044]+/g)
  if (wide === null) return Math.ceil(text.length / LATIN_LETTERS_A_TOKEN)
  let [dense, other, letters] = [0, 0, 0]
  for (const run of wide) {
    letters += run.length
    const found = run.match(DENSE) ?? []
    dense += found.length
    other += run.length - found.reduce((sum, letter) => sum + letter.length, 0)
  }
  return Math.ceil((text.length - letters) / LATIN_LETTERS_A_TOKEN + dense + other / OTHER_LETTERS_A_TOKEN)
}

interface Estimated {
  messages: readonly { content: string; toolCalls?: readonly object[] }[]
  tools?: readonly object[] | undefined
  passages?: readonly { content: string }[] | undefined
}

/** What a request makes the model read. */
export function estimateRequest({ messages, tools = [], passages = [] }: Estimated): number {
  let sum = 0
  for (const { content, toolCalls = [] } of messages) {
    sum += estimateTokens(content) + TOKENS_A_MESSAGE
    for (const call of toolCalls) sum += estimateTokens(JSON.stringify(call))
  }
  for (const tool of tools) sum += estimateTokens(JSON.stringify(tool))
  for (const { content } of passages) sum += estimateTokens(content) + TOKENS_A_MESSAGE
  return sum
}

/** What came of a reply. */
export interface ReceivedReply {
  text: string
  /** How many parts of the reply came. */
  parts: number
  usage: TokenUsage | undefined
}

/** What a call took: as the provider counted it, else by our estimate. Providers do not charge for what they refused before the first part. */
export function computeSettledCall(
  request: Estimated,
  { text, parts, usage: counted }: ReceivedReply,
  status: CallUsage['status'],
): CallUsage {
  if (counted)
    return {
      input_tokens: counted.inputTokens,
      output_tokens: counted.outputTokens,
      cached_tokens: counted.cachedTokens,
      status,
      estimated: false,
    }
  const refused = status === 'failed' && parts === 0
  return { input_tokens: refused ? 0 : estimateRequest(request), output_tokens: estimateTokens(text), status, estimated: true }
}
