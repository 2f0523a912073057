/** Answers a question from passages with the reading model: a certain or probable answer with its quote, or a refusal. */
import type { Confidence } from '../../../src/contract/schemas/confidence.ts'
import type { DocumentCount, Neighbours } from '../../core/tool.ts'
import type { AnswerModels, PassageReader } from '../../inference/embedded-models.ts'
import type { Reading } from '../../inference/model-task.ts'
import { composeReadingText } from '../../inference/reading-text.ts'
import { computeLatinShare } from '../../language/compute-latin-share.ts'
import { extractContentWords, isOtherLanguage } from '../../language/content-words.ts'
import type { ContextPassage } from '../chat-model.ts'
import { readAddition } from '../replace-item.ts'
import type { QuotableAnswer, ReadPassage } from './candidates/list-candidates.ts'
import { isRecord } from './candidates/match-records.ts'
import { canContinue, extendToSection } from './extend-to-section.ts'
import { findByWords } from './find-by-words.ts'
import { findContradiction } from './find-contradiction.ts'
import { formatAnswer, formatDisagreement, quoteAnswer } from './format-answer.ts'
import { formatLanguageNotice } from './format-language-notice.ts'
import { formatNeedsChatModel, formatRefusal, listFirstParts, type QuotedPart } from './format-refusal.ts'
import { listCentralParts } from './list-central-parts.ts'
import { createAnnouncedListFinder } from './lists/find-announced-list.ts'
import { createOptionFinder } from './lists/find-options.ts'
import { createStepFinder } from './lists/find-steps.ts'
import { quoteFirstList } from './lists/quote-first-list.ts'
import { quoteList } from './lists/quote-list.ts'
import { announces } from './parse-passage.ts'
import { asksForCalculation, asksForSummary, completeQuestion } from './question/detect-question-type.ts'
import { findMissingTerm, isMissingCase } from './question/find-missing-terms.ts'
import { lacksAskedValue } from './question/fits-question.ts'
import { createQuestionRewriter } from './question/rewrite-question.ts'
import { type Answer, rankAnswers } from './rank-answers.ts'
import { MIN_PROBABLE, rateConfidence } from './rate-confidence.ts'

export interface Question {
  text: string
  /** What the user wrote if the text is a follow-up question that was completed from the conversation. */
  followUp?: string | undefined
  passages: readonly ContextPassage[]
  /** Lists the neighbours of the passage with this index. */
  listNeighbours?: ((index: number) => Promise<Neighbours | undefined>) | undefined
  /** Counts the documents that were searched, and the skipped files of their sources. */
  countDocuments?: (() => Promise<DocumentCount>) | undefined
}

export interface Reply {
  text: string
  confidence: Confidence
}

/** The reading model reads only the beginning. */
const MAX_QUESTION_LENGTH = 2_000
/** Each passage takes about as long as embedding it. */
const MAX_PASSAGES = 8
/** Rows are counted or compared only if they share this much of the question's words: others are not about it. */
const MIN_ROW_OVERLAP = 0.5
/** A sentence is preferred to rows if their scores are this close. */
const MAX_ROW_GAP = 3
/** The reading model knows the Latin script only. */
const MIN_LATIN_SHARE = 0.5

const CITATION = /\[\d+\]/g
const SECTION_NUMBER = /(?<=^|“)\d+(?:\.\d+)*\.?\s+(?=\p{Lu})/gmu

export async function answerQuestion(models: AnswerModels, given: Question): Promise<Reply> {
  const listNeighbours = readOnce(given.listNeighbours ?? (async () => undefined))
  const question = { ...given, text: completeQuestion(given.text.slice(0, MAX_QUESTION_LENGTH)), listNeighbours }
  const { text, countDocuments } = question
  const read = question.passages.slice(0, MAX_PASSAGES)
  const refuse = async (closest: readonly QuotedPart[]): Promise<Reply> => {
    const refusal = formatRefusal(read, closest, await countDocuments?.())
    const notice = formatLanguageNotice(text, read)
    return { text: notice === undefined ? refusal : `${refusal}\n\n${notice}`, confidence: 'none' }
  }
  if (read.length === 0) return refuse([])
  if (computeLatinShare(text) < MIN_LATIN_SHARE) {
    const answer = findByWords(text, read)
    return answer ? formatReply(question, answer, 'probable') : refuse(listFirstParts(read))
  }
  const list = await quoteFirstList(read, listNeighbours, [
    createOptionFinder(text),
    createStepFinder(text),
    createAnnouncedListFinder(text),
  ])
  if (list !== undefined) return { text: list, confidence: 'certain' }
  const ranked = await preferComplete(
    question,
    await rankAnswers(text, await readPassages(models, text, read), readAddition(given.followUp ?? '')),
  )
  const answers = preferStatements(text, ranked, read)
  const [best, ...others] = answers
  const texts = read.map(({ content, headings = [], source }) => [source, ...headings, content].join('\n'))
  const missing = findMissingTerm(text, texts)
  const confidence = best ? await rateConfidence(models, text, best, read[best.passage] as ContextPassage, missing) : 'none'
  const related = answers.filter(({ overlap }) => overlap > 0)
  const closest = related.length > 0 ? related : answers
  if (asksForSummary(text)) return { text: formatNeedsChatModel(read, listCentralParts(text, read)), confidence: 'none' }
  const shown = confidence === 'none' ? closest.find(({ overlap }) => overlap >= MIN_ROW_OVERLAP) : best
  if (shown && asksForCalculation(text, describeAnswer(shown, read)))
    return { text: formatNeedsChatModel(read, closest), confidence: 'none' }
  if (!best || confidence === 'none' || isMissingCase(question.followUp ?? '', texts)) return refuse(closest)
  const contradiction = confidence === 'certain' ? findContradiction(text, best, others, read) : undefined
  if (contradiction) return { text: formatDisagreement(text, [best, contradiction], read), confidence: 'certain' }
  const reply = await formatReply(question, best, confidence)
  return lacksAskedValue(text, reply.text.replaceAll(CITATION, '').replaceAll(SECTION_NUMBER, '')) ? refuse(closest) : reply
}

async function formatReply(
  { text: question, passages, listNeighbours }: Question,
  answer: QuotableAnswer,
  confidence: 'certain' | 'probable',
): Promise<Reply> {
  const found = { answer, passage: passages[answer.passage] as ContextPassage }
  const neighbours = canContinue(found) ? await listNeighbours?.(answer.passage) : undefined
  const quoted = extendToSection(found, neighbours)
  const format = confidence === 'certain' ? formatAnswer : quoteAnswer
  const text = quoteList(question, quoted, neighbours) ?? format(question, quoted.answer, quoted.passage)
  return { text: confidence === 'certain' ? text : `Probably:${/^(?:```|\|)/.test(text) ? '\n\n' : ' '}${text}`, confidence }
}

/** Several rules need the neighbours of a passage, and reading them takes a query. */
function readOnce(list: Exclude<Question['listNeighbours'], undefined>): typeof list {
  const lists = new Map<number, ReturnType<typeof list>>()
  return (index) => {
    const neighbours = lists.get(index) ?? list(index)
    lists.set(index, neighbours)
    return neighbours
  }
}

/** Moves an answer that announces something to the end if nothing follows it. */
async function preferComplete({ passages, listNeighbours }: Question, answers: Answer[]): Promise<Answer[]> {
  const [best, ...others] = answers
  if (!best || others.length === 0) return answers
  const { content, headings = [] } = passages[best.passage] as ContextPassage
  const isEnd = content.slice(best.part.end).trim() === ''
  if (!isEnd || !announces(content.slice(best.part.start, best.part.end))) return answers
  const next = (await listNeighbours?.(best.passage))?.after[0]
  const isAnnounced = next !== undefined && headings.every((heading, level) => next.headings[level] === heading)
  return isAnnounced ? answers : [...others, best]
}

/** "How many" is answered by a sentence rather than by rows that would have to be counted, if the sentence is almost as good. */
function preferStatements(question: string, answers: Answer[], passages: readonly ContextPassage[]): Answer[] {
  const [best] = answers
  const statements = answers.filter((answer) => !asksForCalculation(question, describeAnswer(answer, passages)))
  const [first] = statements
  if (!best || !first || first.likelihood < MIN_PROBABLE || first.score < best.score - MAX_ROW_GAP) return answers
  return statements
}

function describeAnswer({ passage, part, isNamedRecord }: Answer, passages: readonly ContextPassage[]) {
  const text = (passages[passage] as ContextPassage).content.slice(part.start, part.end)
  return { text, isRecord: isRecord(part), isNamedRecord }
}

/** Reads each passage with the question in its own words. */
async function readPassages(reader: PassageReader, question: string, passages: readonly ContextPassage[]): Promise<ReadPassage[]> {
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
    for (const [index, reading] of (await reader.read(wording, texts)).entries()) readings.set(group[index] as object, reading)
  }
  await Promise.all([...new Set(inputs.map(({ wording }) => wording))].map(readGroup))
  return inputs.map((input) => ({ ...input, reading: readings.get(input) as Reading }))
}
