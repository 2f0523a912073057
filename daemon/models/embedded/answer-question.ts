/** Answers a question from passages with the reading model: an answer with its quote, or a refusal. */
import type { PassageReader } from '../../embedded-models/embedded-models.ts'
import { composeReadingText } from '../../embedded-models/reading-text.ts'
import type { Reading } from '../../embedded-models/worker-protocol.ts'
import { computeLatinShare } from '../../language/compute-latin-share.ts'
import { extractContentWords, isOtherLanguage } from '../../language/content-words.ts'
import type { ContextPassage } from '../chat-model.ts'
import { asksForCalculation, asksForSummary } from './detect-task.ts'
import { findByWords } from './find-by-words.ts'
import { formatAnswer, formatDisagreement, getShortAnswer } from './format-answer.ts'
import { formatNeedsChatModel, formatRefusal, listFirstParts, type QuotedPart } from './format-refusal.ts'
import { isRecord } from './match-records.ts'
import { createQuestionRewriter } from './rewrite-question.ts'
import { type Answer, type ReadPassage, selectAnswers } from './select-answer.ts'

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
const MIN_CONFIDENCE = 3.4
/** Rows are counted or compared only if they share this much of the question's words: others are not about it. */
const MIN_ROW_OVERLAP = 0.5
/** A sentence is preferred to rows if their scores are this close. */
const MAX_ROW_GAP = 3
/** An answer of another document contradicts the best one only if their scores are this close. */
const MAX_CONTRADICTION_GAP = 2
/** The reading model knows the Latin script only. */
const MIN_LATIN_SHARE = 0.5

export async function answerQuestion(reader: PassageReader, { text, passages, countDocuments, signal }: Question): Promise<string> {
  const read = passages.slice(0, MAX_PASSAGES)
  const refuse = async (closest: readonly QuotedPart[]) => formatRefusal(read, closest, await countDocuments?.())
  if (read.length === 0) return refuse([])
  if (computeLatinShare(text) < MIN_LATIN_SHARE) {
    const answer = findByWords(text, read)
    return answer ? formatAnswer(text, answer, read[answer.passage] as ContextPassage) : refuse(listFirstParts(read))
  }
  const answers = preferStatements(text, await selectAnswers(text, await readPassages(reader, text, read, signal)), read)
  const [best, ...others] = answers
  const related = answers.filter(({ overlap }) => overlap > 0)
  const closest = related.length > 0 ? related : answers
  if (asksForSummary(text)) return formatNeedsChatModel(read, answers)
  const shown = best && best.confidence >= MIN_CONFIDENCE ? best : closest.find(({ overlap }) => overlap >= MIN_ROW_OVERLAP)
  if (shown && asksForCalculation(text, describeAnswer(shown, read))) return formatNeedsChatModel(read, closest)
  if (!best || best.confidence < MIN_CONFIDENCE) return refuse(closest)
  const contradiction = others.find((other) => contradicts(text, best, other, read))
  return contradiction
    ? formatDisagreement(text, [best, contradiction], read)
    : formatAnswer(text, best, read[best.passage] as ContextPassage)
}

/** "How many" is answered by a sentence rather than by rows that would have to be counted, if the sentence is almost as good. */
function preferStatements(question: string, answers: Answer[], passages: readonly ContextPassage[]): Answer[] {
  const [best] = answers
  const statements = answers.filter((answer) => !asksForCalculation(question, describeAnswer(answer, passages)))
  const [first] = statements
  if (!best || !first || first.confidence < MIN_CONFIDENCE || first.score < best.score - MAX_ROW_GAP) return answers
  return statements
}

function describeAnswer({ passage, part, isNamedRecord }: Answer, passages: readonly ContextPassage[]) {
  const text = (passages[passage] as ContextPassage).content.slice(part.start, part.end)
  return { text, isRecord: isRecord(part), isNamedRecord }
}

/** Reads each passage with the question in its own words. */
async function readPassages(
  reader: PassageReader,
  question: string,
  passages: readonly ContextPassage[],
  signal?: AbortSignal,
): Promise<ReadPassage[]> {
  const rewrite = createQuestionRewriter(question)
  const inputs = passages.map(({ headings = [], content, source }) => {
    const readingText = composeReadingText(headings, content)
    const words = new Set(extractContentWords(readingText.text))
    return { content, source, ...readingText, words, wording: rewrite(words), isReadable: !isOtherLanguage(question, content) }
  })
  const readings = new Map<object, Reading>()
  const readGroup = async (wording: string) => {
    const group = inputs.filter((input) => input.wording === wording)
    const texts = group.map(({ text }) => text)
    for (const [index, reading] of (await reader.read(wording, texts, signal)).entries()) readings.set(group[index] as object, reading)
  }
  await Promise.all([...new Set(inputs.map(({ wording }) => wording))].map(readGroup))
  return inputs.map((input) => ({ ...input, reading: readings.get(input) as Reading }))
}

/** Whether two documents answer with different numbers. Other differences may only be in wording. */
function contradicts(question: string, best: Answer, other: Answer, passages: readonly ContextPassage[]): boolean {
  const [first, second] = [passages[best.passage] as ContextPassage, passages[other.passage] as ContextPassage]
  if (first.source === second.source || other.confidence < MIN_CONFIDENCE || other.score < best.score - MAX_CONTRADICTION_GAP) return false
  const [a, b] = [getNumbers(getShortAnswer(question, best, first.content)), getNumbers(getShortAnswer(question, other, second.content))]
  return a.length > 0 && b.length > 0 && a.join() !== b.join() && getShape(a) === getShape(b)
}

const getNumbers = (text = '') => text.match(/\d+(?:[.,:-]\d+)*/g) ?? []
/** A port does not contradict an address, nor a year a date. */
const getShape = (numbers: readonly string[]) => numbers.map((number) => number.replaceAll(/\d+/g, '0')).join()
