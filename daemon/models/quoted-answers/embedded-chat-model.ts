/** The embedded chat model, which reads passages and quotes the answer. */
import type { AnswerModels } from '../../inference/embedded-models.ts'
import type { ComputedAnswer } from '../../tables/computation.ts'
import { isDataFileName } from '../../tables/typed-table.ts'
import type { ChatInput, ChatModel, ChatPart, ContextPassage } from '../chat-model.ts'
import { resolveLastQuestion } from '../resolve-follow-up.ts'
import { estimateTokens } from '../token-estimate.ts'
import { answerQuestion, type Reply } from './answer-question.ts'
import { escapeReferences } from './format-blocks.ts'
import { formatComputations } from './format-computation.ts'
import { isMissingCase } from './question/find-missing-terms.ts'

/** It reads only the last question and the passages, of any length. */
const CONTEXT_TOKENS = 200_000
const WORDS_PER_PART = 4
const CLOSEST_PASSAGES = 3

const INTRODUCTION =
  'I am the embedded model of Cadre. I do not write my own answers: I read your documents and quote what answers a question.'
const NO_DOCUMENTS = [
  INTRODUCTION,
  'This agent has no documents. Add a RAG or retrieval tool to it, or use another model; to add one, run cadre models discover --add.',
].join(' ')
const GREETING_REPLY = `${INTRODUCTION} Ask me something about them.`
const GREETING = new RegExp(
  String.raw`^\W*(hi|hey|hello|good (morning|day|afternoon|evening)|thanks|thank you|who are you|what are you|what can you do|help` +
    String.raw`|hallo|hola|bonjour|salut|ciao|olá)\b[^?]{0,30}\??\W*$`,
  'iu',
)

/** Without a confidence: no answer to a question about documents. */
type ModelReply = Pick<Reply, 'text'> & Partial<Reply>

export class EmbeddedChatModel implements ChatModel {
  readonly id: string
  readonly name: string
  readonly canCallTools = false
  readonly canReadImages = false
  readonly contextTokens = CONTEXT_TOKENS
  readonly isContextKnown = false
  readonly price = { input: 0, output: 0 }
  readonly #models: AnswerModels

  constructor(id: string, name: string, models: AnswerModels) {
    this.id = id
    this.name = name
    this.#models = models
  }

  async *stream(request: ChatInput): AsyncGenerator<ChatPart> {
    const { messages, passages = [], signal } = request
    signal?.throwIfAborted()
    const question = resolveLastQuestion(messages)
    const last = messages.findLast(({ role }) => role === 'user')?.content
    const { text: answer, confidence } = await this.#answer(question, last === question ? undefined : last, request)
    const inputTokens = estimateTokens(question) + passages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
    for (const text of splitParts(answer)) {
      signal?.throwIfAborted()
      yield { type: 'text', text }
    }
    yield { type: 'end', finishReason: 'stop', usage: { inputTokens, outputTokens: estimateTokens(answer), cachedTokens: 0 }, confidence }
  }

  /** Undefined passages: the agent has no documents. Empty passages: the search found nothing. */
  async #answer(question: string, followUp: string | undefined, request: ChatInput): Promise<ModelReply> {
    const { passages, countDocuments, listNeighbours, compute, owner, priority, signal } = request
    if (passages === undefined) return { text: NO_DOCUMENTS }
    if (GREETING.test(question)) return { text: GREETING_REPLY }
    const closest = passages.slice(0, CLOSEST_PASSAGES).map(({ source }) => source)
    const { computations, problem, notice }: ComputedAnswer = (await compute?.(question, closest, signal)) ?? { computations: [] }
    if (computations.length > 0) {
      const isUncertain = computations.length > 1 || computations.some((computation) => computation.isUncertain)
      return { text: formatComputations(computations), confidence: isUncertain ? 'probable' : 'certain' }
    }
    const options = { signal, caller: owner, priority: priority ?? 'high' }
    const models: AnswerModels = {
      read: (wording, texts) => this.#models.read(wording, texts, options),
      embed: (texts) => this.#models.embed(texts, options),
    }
    const reply = await answerQuestion(models, { text: question, followUp, passages, countDocuments, listNeighbours })
    // A row that shares words with the question would look like its answer.
    const isOfTable =
      problem !== undefined &&
      (reply.confidence === 'none' || (reply.confidence === 'probable' && isDataFileName(problem.document))) &&
      (passages[0]?.source === problem.document || isMissingCase(problem.missing.join(' '), passages.map(getText)))
    if (isOfTable) return { text: escapeReferences(problem.text), confidence: 'none' }
    return notice === undefined ? reply : { ...reply, text: `${reply.text}\n\n${notice}` }
  }
}

const getText = ({ source, headings = [], content }: ContextPassage): string => [source, ...headings, content].join('\n')

/** Splits the text into parts of a few words. A command stays whole: clients write it as the user types it. */
function splitParts(text: string): string[] {
  const words = text.match(/\s*(?:cadre models discover --add\S*|\S+)/g) ?? []
  return words.flatMap((_, index) => (index % WORDS_PER_PART === 0 ? [words.slice(index, index + WORDS_PER_PART).join('')] : []))
}
