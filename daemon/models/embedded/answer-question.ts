/** Answers a question from passages with the reading model: an answer with its quote, or a refusal. */
import { composeReadingText, type ReadingText } from '../../embedded-models/reading-text.ts'
import type { Reading } from '../../embedded-models/worker-protocol.ts'
import type { ContextPassage } from '../chat-model.ts'
import { findByWords } from './find-by-words.ts'
import { formatAnswer, formatDisagreement, formatNeedsChatModel, formatRefusal, getShortAnswer } from './format-answer.ts'
import { rewriteQuestion } from './rewrite-question.ts'
import { type Answer, selectAnswers } from './select-answer.ts'

/** Reads passages; implemented by the embedded models. */
export interface PassageReader {
  read(question: string, texts: readonly string[], signal?: AbortSignal): Promise<Reading[]>
}

export interface Question {
  text: string
  passages: readonly ContextPassage[]
  /** Returns the number of documents that were searched. */
  countDocuments?: (() => Promise<number>) | undefined
  signal?: AbortSignal | undefined
}

/** Each passage takes about as long as embedding it. */
const MAX_PASSAGES = 8
/** Calibrated on questions with and without an answer (docs/reader.md). */
const MIN_CONFIDENCE = -4.4
/** Answers of other documents are compared with the best one if they are this close. */
const MAX_DISAGREEMENT_GAP = 3
/** The reading model knows the Latin script only. */
const MIN_LATIN_SHARE = 0.5

const NEEDS_CHAT_MODEL = new RegExp(
  String.raw`\b(?:compar(?:e|ed|ing|ison)|differences? between|differ(?:s|ent)? from|versus|vs\.?|pros and cons` +
    `|advantages and disadvantages|summari[sz]e|summary|overview|outline|main points|key points|tl;?dr` +
    String.raw`|vergleich\w*|unterschied\w*|zusammenfass\w*|überblick)(?!\w)`,
  'iu',
)

export async function answerQuestion(reader: PassageReader, { text, passages, countDocuments, signal }: Question): Promise<string> {
  const read = passages.slice(0, MAX_PASSAGES)
  const refuse = async (order: readonly number[]) => formatRefusal(read, order, await countDocuments?.())
  if (read.length === 0) return refuse([])
  if (computeLatinShare(text) < MIN_LATIN_SHARE) {
    const answer = findByWords(text, read)
    return answer ? formatAnswer(text, answer, read[answer.passage] as ContextPassage) : refuse([...read.keys()])
  }
  const texts = read.map(({ headings = [], content }) => composeReadingText(headings, content))
  const readings = await readPassages(reader, text, texts, signal)
  const order = readings
    .map(({ relevance }, index) => ({ relevance, index }))
    .sort((a, b) => b.relevance - a.relevance)
    .map(({ index }) => index)
  if (NEEDS_CHAT_MODEL.test(text)) return formatNeedsChatModel(read, order)
  const answers = selectAnswers(
    text,
    read.map(({ content }, index) => ({ content, ...(texts[index] as ReadingText), reading: readings[index] as Reading })),
  )
  const [best, ...others] = answers
  if (!best || best.confidence < MIN_CONFIDENCE) return refuse(order)
  const contradiction = others.find((other) => contradicts(best, other, read))
  return contradiction
    ? formatDisagreement(text, [best, contradiction], read)
    : formatAnswer(text, best, read[best.passage] as ContextPassage)
}

/** Reads each passage with the question in its own words. */
async function readPassages(
  reader: PassageReader,
  question: string,
  texts: readonly ReadingText[],
  signal?: AbortSignal,
): Promise<Reading[]> {
  const questions = texts.map(({ text }) => rewriteQuestion(question, text))
  const groups = [...new Set(questions)].map(async (variant) => {
    const indices = [...questions.keys()].filter((index) => questions[index] === variant)
    const readings = await reader.read(
      variant,
      indices.map((index) => (texts[index] as ReadingText).text),
      signal,
    )
    return indices.map((index, position) => [index, readings[position] as Reading] as const)
  })
  const readings = new Map((await Promise.all(groups)).flat())
  return texts.map((_, index) => readings.get(index) as Reading)
}

/** Whether two documents answer with different numbers. Other differences may only be in wording. */
function contradicts(best: Answer, other: Answer, passages: readonly ContextPassage[]): boolean {
  const [first, second] = [passages[best.passage] as ContextPassage, passages[other.passage] as ContextPassage]
  if (first.source === second.source || other.confidence < MIN_CONFIDENCE || other.score < best.score - MAX_DISAGREEMENT_GAP) return false
  const [a, b] = [getNumbers(getShortAnswer(best, first.content)), getNumbers(getShortAnswer(other, second.content))]
  return a.length > 0 && b.length > 0 && a.join() !== b.join() && getShape(a) === getShape(b)
}

const getNumbers = (text = '') => text.match(/\d+(?:[.,:-]\d+)*/g) ?? []
/** A port does not contradict an address, nor a year a date. */
const getShape = (numbers: readonly string[]) => numbers.map((number) => number.replaceAll(/\d+/g, '0')).join()

function computeLatinShare(text: string): number {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters === 0 ? 1 : (text.match(/\p{Script=Latin}/gu)?.length ?? 0) / letters
}
