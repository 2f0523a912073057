/** A reading model for tests that finds given answers. */

import type { AnswerModels } from '../../../daemon/inference/embedded-models.ts'
import type { Reading } from '../../../daemon/inference/model-task.ts'

/** What the reader finds in a text: the answer, and how certain it is. */
export interface Finding {
  answer: string
  certainty?: number
  /** Another answer, of which it is almost as certain. */
  alternative?: string
  /** Less certain ones. */
  others?: Readonly<Record<string, number>>
}

/** The reading model reads up to six windows of 381 tokens. */
const MAX_WORDS = 6 * 381
const RELEVANCE_SHARE = 0.8

/** A reader that points at the answers it is given, instead of the reading model. */
export function createScriptedReader(
  find: (text: string, question: string) => Finding | undefined,
  similarity = 0.4,
): AnswerModels & { questions: string[] } {
  const questions: string[] = []
  return {
    questions,
    // Of the question and the passage of the answer.
    embed: async () => [Float32Array.of(1, 0), Float32Array.of(similarity, Math.sqrt(1 - similarity ** 2))],
    read: async (question, texts) => {
      questions.push(question)
      return texts.map((text) => createReading(text, find(text, question)))
    },
  }
}

function createReading(text: string, finding: Finding | undefined): Reading {
  const matches = [...text.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)].slice(0, MAX_WORDS)
  const words = matches.map(({ 0: word, index }) => ({ start: index, end: index + word.length }))
  const certainty = finding?.certainty ?? 10
  const answers = finding
    ? [
        { text: finding.answer, certainty },
        { text: finding.alternative ?? finding.answer, certainty: certainty - 0.5 },
        ...Object.entries(finding.others ?? {}).map(([text, other]) => ({ text, certainty: other })),
      ]
    : []
  const spans = answers.map((answer) => ({ ...answer, start: text.indexOf(answer.text) }))
  for (const span of spans) if (span.start < 0) throw new Error(`The text does not contain "${span.text}".`)
  const rate = (isEdge: (span: (typeof spans)[number]) => boolean) => spans.find(isEdge)?.certainty ?? -10
  return {
    words: Uint32Array.from(words.flatMap((word) => [word.start, word.end])),
    begins: Float32Array.from(words, (word) => rate(({ start }) => word.start === start)),
    ends: Float32Array.from(words, (word) => rate(({ start, text: { length } }) => word.end === start + length)),
    noAnswer: 0,
    // As with the reading model, a passage with a certain answer is relevant.
    relevance: finding ? RELEVANCE_SHARE * certainty : -8,
  }
}
