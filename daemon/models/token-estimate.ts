/** Estimates token counts, for the context window and for calls whose provider does not report usage. */
import type { Confidence } from '../../src/contract/schemas/confidence.ts'
import type { PassageDescription } from '../../src/contract/schemas/passages.ts'
import type { CallUsage } from '../core/meter.ts'
import { formatDescriptions } from '../core/tool.ts'
import type { ChatPart, TokenUsage } from './chat-model.ts'

/** Scripts with about one token per character: Han, kana, Hangul, Thai, Lao, Khmer, Myanmar. */
const DENSE_SCRIPTS =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[\ud840-\ud87f][\udc00-\udfff]/g
const LATIN_CHARACTERS_PER_TOKEN = 4
/** Greek, Cyrillic, Arabic, Devanagari and others. */
const OTHER_CHARACTERS_PER_TOKEN = 2.5
/** Role and delimiters of a message. */
const TOKENS_PER_MESSAGE = 4
/** Providers count about this many for a picture of medium size. */
const TOKENS_PER_IMAGE = 800

export function estimateTokens(text: string): number {
  if (text === '') return 0
  // Fast path: most texts are Latin only.
  const runs = text.match(/[^\u0000-\u024f\u2010-\u2044]+/g)
  if (runs === null) return Math.ceil(text.length / LATIN_CHARACTERS_PER_TOKEN)
  let [dense, other, total] = [0, 0, 0]
  for (const run of runs) {
    total += run.length
    const characters = run.match(DENSE_SCRIPTS) ?? []
    dense += characters.length
    other += run.length - characters.reduce((sum, character) => sum + character.length, 0)
  }
  return Math.ceil((text.length - total) / LATIN_CHARACTERS_PER_TOKEN + dense + other / OTHER_CHARACTERS_PER_TOKEN)
}

interface EstimatedInput {
  messages: readonly { content: string; toolCalls?: readonly object[]; images?: readonly object[] }[]
  tools?: readonly object[] | undefined
  passages?: readonly { content: string; descriptions?: readonly PassageDescription[] }[] | undefined
}

/** Estimates the input tokens of a request. */
export function estimateInput({ messages, tools = [], passages = [] }: EstimatedInput): number {
  let sum = 0
  for (const { content, toolCalls = [], images = [] } of messages) {
    sum += estimateTokens(content) + TOKENS_PER_MESSAGE + images.length * TOKENS_PER_IMAGE
    for (const call of toolCalls) sum += estimateTokens(JSON.stringify(call))
  }
  for (const tool of tools) sum += estimateTokens(JSON.stringify(tool))
  for (const { content } of passages) sum += estimateTokens(content) + TOKENS_PER_MESSAGE
  return sum + estimateTokens(formatDescriptions(passages))
}

export interface ReceivedReply {
  text: string
  /** Number of parts received. */
  parts: number
  usage: TokenUsage | undefined
  /** Only of the embedded model. */
  confidence?: Confidence | undefined
}

export function addPart(received: ReceivedReply, part: ChatPart): void {
  received.parts++
  if (part.type === 'text') received.text += part.text
  if (part.type !== 'end') return
  received.usage = part.usage
  received.confidence = part.confidence
}

/** Uses the provider's usage, else an estimate. Providers do not charge for calls that fail before the first part. */
export function computeCallUsage(request: EstimatedInput, { text, parts, usage }: ReceivedReply, status: CallUsage['status']): CallUsage {
  if (usage)
    return {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cached_tokens: usage.cachedTokens,
      status,
      estimated: false,
    }
  const isFree = status === 'failed' && parts === 0
  return { input_tokens: isFree ? 0 : estimateInput(request), output_tokens: estimateTokens(text), status, estimated: true }
}
