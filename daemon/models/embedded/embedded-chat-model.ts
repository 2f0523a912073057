/** The embedded chat model, which quotes sentences from passages. */
import type { Embedder } from '../../embedding/embedder.ts'
import type { ChatModel, ChatPart, ChatRequest } from '../chat-model.ts'
import { estimateTokens } from '../token-estimate.ts'
import { extractAnswer, NOT_FOUND } from './extract-answer.ts'

/** It reads only the last question and the passages, of any length. */
const CONTEXT_TOKENS = 200_000
const WORDS_PER_PART = 4

const INTRODUCTION =
  'I am the embedded model of Cadre. I do not write my own answers: I quote the sentences of your documents that answer a question.'
const NO_DOCUMENTS = [
  INTRODUCTION,
  'This agent has no documents. Add a RAG or retrieval tool to it, or use another model; to find one, run cadre models discover.',
].join(' ')
const GREETING_REPLY = `${INTRODUCTION} Ask me something about them.`
const GREETING = new RegExp(
  String.raw`^\W*(hi|hey|hello|good (morning|day|afternoon|evening)|thanks|thank you|who are you|what are you|what can you do|help` +
    String.raw`|hallo|hola|bonjour|salut|ciao|olá)\b[^?]{0,30}\??\W*$`,
  'iu',
)

export class EmbeddedChatModel implements ChatModel {
  readonly id: string
  readonly name: string
  readonly canCallTools = false
  readonly contextTokens = CONTEXT_TOKENS
  readonly isContextKnown = false
  readonly price = { input: 0, output: 0 }
  readonly #embedder: () => Promise<Embedder>

  constructor(id: string, name: string, embedder: () => Promise<Embedder>) {
    this.id = id
    this.name = name
    this.#embedder = embedder
  }

  async *stream(request: ChatRequest): AsyncGenerator<ChatPart> {
    const { messages, passages = [], signal } = request
    signal?.throwIfAborted()
    const question = messages.findLast(({ role }) => role === 'user')?.content ?? ''
    const answer = await this.#answer(question, request)
    const inputTokens = estimateTokens(question) + passages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
    for (const text of splitParts(answer)) {
      signal?.throwIfAborted()
      yield { type: 'text', text }
    }
    yield { type: 'end', finishReason: 'stop', usage: { inputTokens, outputTokens: estimateTokens(answer), cachedTokens: 0 } }
  }

  /** Undefined passages: the agent has no documents. Empty passages: the search found nothing. */
  async #answer(question: string, { passages, signal }: ChatRequest): Promise<string> {
    if (passages === undefined) return NO_DOCUMENTS
    const answer = await extractAnswer(await this.#embedder(), question, passages, signal)
    return answer === NOT_FOUND && GREETING.test(question) ? GREETING_REPLY : answer
  }
}

/** Splits the text into parts of a few words. */
function splitParts(text: string): string[] {
  const words = text.match(/\s*\S+/g) ?? []
  return words.flatMap((_, index) => (index % WORDS_PER_PART === 0 ? [words.slice(index, index + WORDS_PER_PART).join('')] : []))
}
