/** Finds a contradiction: answers of different documents that give different numbers for the same thing. */
import { extractContentWords, stem } from '../../language/content-words.ts'
import type { ContextPassage } from '../chat-model.ts'
import { getShortAnswer } from './format-answer.ts'
import type { Answer } from './rank-answers.ts'
import { MIN_CERTAIN } from './rate-confidence.ts'

export interface ComparedAnswer {
  /** The words that answer the question. */
  short: string
  /** The quoted sentence. */
  quote: string
}

const NUMBER = /\d+(?:[.,:-]\d+)*/g
/** What a number counts or measures: "5 days", "12 %", "€ 30". */
const QUANTITY = /([€$£¥])?\s?(\d+(?:[.,:-]\d+)*)\s?(%|[€$£¥]|\p{L}+)?/gu
/** Words around the numbers that both sentences must share, as a share of the shorter one. */
const MIN_SHARED_WORDS = 0.5
/** An answer of another document contradicts the best one only if their scores are this close. */
const MAX_SCORE_GAP = 2

/** Returns the answer of another document that contradicts the best one. */
export function findContradiction(
  question: string,
  best: Answer,
  others: readonly Answer[],
  passages: readonly ContextPassage[],
): Answer | undefined {
  const getPassage = ({ passage }: Answer) => passages[passage] as ContextPassage
  const describe = (answer: Answer) => {
    const { content } = getPassage(answer)
    return { short: getShortAnswer(question, answer, content) ?? '', quote: content.slice(answer.part.start, answer.part.end) }
  }
  return others.find(
    (other) =>
      getPassage(other).source !== getPassage(best).source &&
      other.likelihood >= MIN_CERTAIN &&
      other.score >= best.score - MAX_SCORE_GAP &&
      hasContradiction(question, describe(best), describe(other)),
  )
}

/** Other differences may only be in wording. */
export function hasContradiction(question: string, first: ComparedAnswer, second: ComparedAnswer): boolean {
  const [a, b] = [listNumbers(first.short), listNumbers(second.short)]
  if (a.length === 0 || b.length === 0 || a.join() === b.join() || getShape(a) !== getShape(b)) return false
  // 32 hours and 4 days a week can both be right.
  if (listUnits(first) !== listUnits(second)) return false
  return isSameTopic(question, first.quote, second.quote)
}

const listNumbers = (text: string): string[] => text.match(NUMBER) ?? []
/** A port does not contradict an address, nor a year a date. */
const getShape = (numbers: readonly string[]) => numbers.map((number) => number.replaceAll(/\d+/g, '0')).join()

/** Returns the units of the numbers of the short answer, as the quote writes them. */
function listUnits({ short, quote }: ComparedAnswer): string {
  const at = quote.indexOf(short)
  const text = at < 0 ? short : quote.slice(Math.max(0, at - 2), at + short.length + 20)
  const numbers = new Set(listNumbers(short))
  const units = [...text.matchAll(QUANTITY)].flatMap(([, before = '', number = '', after = '']) =>
    numbers.has(number) ? [before || stem(after.toLowerCase())] : [],
  )
  return units.join()
}

/** Whether both sentences share the words of the question that either has, and enough of their other words. */
function isSameTopic(question: string, first: string, second: string): boolean {
  const withoutNumbers = (text: string) => new Set(extractContentWords(text.replaceAll(QUANTITY, ' ')))
  const [a, b] = [withoutNumbers(first), withoutNumbers(second)]
  const asked = withoutNumbers(question)
  if ([...asked].some((word) => a.has(word) !== b.has(word))) return false
  const [otherA, otherB] = [a, b].map((words) => [...words].filter((word) => !asked.has(word))) as [string[], string[]]
  const shared = otherA.filter((word) => b.has(word)).length
  return shared >= MIN_SHARED_WORDS * Math.min(otherA.length, otherB.length)
}
