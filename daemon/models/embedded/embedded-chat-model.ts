/** The embedded answerer as a chat model: it quotes what it is given, and says so where there is nothing to quote. */
import type { Embedder } from '../../embedding/embedder.ts'
import type { ChatModel, ChatPart, ChatRequest } from '../chat-model.ts'
import { estimateTokens } from '../token-estimate.ts'
import { extractAnswer, NOT_FOUND } from './extract-answer.ts'

/** It reads the last question and the passages, and nothing else, however much there is. */
const CONTEXT_TOKENS = 200_000
const WORDS_A_PART = 4

const INTRODUCTION =
  'I am the model that comes with Cadre. I do not write answers of my own: I quote the sentences of your documents that answer a question.'
const NO_DOCUMENTS = `${INTRODUCTION} Here I have no documents to look into. Give this agent a RAG or retrieval tool, or a model that can converse: cadre models discover looks for one.`
const GREETED = `${INTRODUCTION} Ask me something that is in them.`
const GREETING =
  /^\W*(hi|hey|hello|good (morning|day|afternoon|evening)|thanks|thank you|who are you|what are you|what can you do|help|hallo|hola|bonjour|salut|ciao|olá)\b[^?]{0,30}\??\W*$/iu

export class EmbeddedChatModel implements ChatModel {
  readonly id: string
  readonly name: string
  readonly canCallTools = false
  readonly contextTokens = CONTEXT_TOKENS
  /** It looks for what it can answer, however long the question. */
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
    for (const text of pieces(answer)) {
      signal?.throwIfAborted()
      yield { type: 'text', text }
    }
    yield { type: 'end', finishReason: 'stop', usage: { inputTokens, outputTokens: estimateTokens(answer), cachedTokens: 0 } }
  }

  /** Passages that are missing were not looked for; none at all were looked for and not found. */
  async #answer(question: string, { passages, signal }: ChatRequest): Promise<string> {
    if (passages === undefined) return NO_DOCUMENTS
    const found = await extractAnswer(await this.#embedder(), question, passages, signal)
    return found === NOT_FOUND && GREETING.test(question) ? GREETED : found
  }
}

/** Some words at a time, each with the space before it. */
function pieces(text: string): string[] {
  const words = text.match(/\s*\S+/g) ?? []
  return words.flatMap((_, at) => (at % WORDS_A_PART === 0 ? [words.slice(at, at + WORDS_A_PART).join('')] : []))
}
