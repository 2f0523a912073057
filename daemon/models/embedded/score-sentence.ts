/** How much speaks for a sentence as the answer to a question: likeness, the words it shares, and whether it has the form of an answer. */
import { containsWord, extractContentWords, type QuestionAnalysis } from './analyze-question.ts'
import type { QuotableSentence } from './split-sentences.ts'

export interface CandidateSentence extends QuotableSentence {
  passage: number
  /** In its passage. */
  position: number
  /** Its own and its heading's. */
  words: ReadonlySet<string>
  ownWords: ReadonlySet<string>
}

export interface ScoredSentence extends CandidateSentence {
  /** Of the question's and the sentence's meaning, -1 to 1; undefined where the model does not know the language. */
  similarity: number | undefined
  /** How much of what is asked about its words hold, 0 to 1. */
  wordOverlap: number
  /** The same of its whole passage. */
  passageOverlap: number
  score: number
}

/**
 * Both bars stand between what questions score against documents that answer them and against others that do not
 * (encyclopedia, abstracts, code and a manual, in English and Chinese).
 */
const LEAST_EVIDENCE = 0.46
const SHARED = 0.25
/** In languages that the model does not know, the words have to do: those of the sentence, and those around it. */
const LEAST_WORDS = 0.4

/** Whether it says so much about what is asked that it may be quoted. */
export function isRelevant({ similarity: likeness, wordOverlap: shared, passageOverlap: around }: ScoredSentence): boolean {
  return likeness === undefined ? (shared + around) / 2 >= LEAST_WORDS : likeness + SHARED * shared >= LEAST_EVIDENCE
}

/** What the words of a question count: the fewer sentences hold one, the more it says. */
export function computeWordWeights({ words }: QuestionAnalysis, candidates: readonly CandidateSentence[]): Map<string, number> {
  const weigh = (word: string) =>
    Math.log(
      1 + (candidates.length + 1) / (candidates.filter((candidate) => containsWord(candidate.text, candidate.words, word)).length + 1),
    )
  return new Map(words.map((word) => [word, weigh(word)]))
}

/** How much of what is asked about these hold, together: with the words of their headings, or by their own alone. */
export function computeOverlap(
  weights: ReadonlyMap<string, number>,
  candidates: readonly CandidateSentence[],
  field: 'words' | 'ownWords' = 'words',
): number {
  let [held, all] = [0, 0]
  for (const [word, weight] of weights) {
    all += weight
    if (candidates.some((candidate) => containsWord(candidate.text, candidate[field], word))) held += weight
  }
  return all === 0 ? 0 : held / all
}

const FIGURE =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|sixty|hundred|thousand|million|billion|once|twice|never|always|half)\b/i
const SPAN =
  /\b(?:(?:milli)?seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?|centur(?:y|ies)|daily|hourly|weekly|monthly|yearly)\b|\d\s?(?:ms|s|min|h)\b/i
const MOMENT =
  /\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|today|yesterday|daily|weekly|after|before|until|since)\b/i
const NAME = /\p{L}[\p{L}.'’-]*,? \p{Lu}\p{Ll}/u
const IS = /^\W*(?:\([^)]{0,60}\)\s*)?(?:is|are|was|were|means?|refers?|stands? for|describes?|denotes?)\b/i

/** Whether a sentence has the form that such a question is answered in: above 0 speaks for it, below against. */
export function scoreForm(
  { kind, subject }: QuestionAnalysis,
  { text, heading, isLead: lead, namesCode: naming, isCommand: command, below }: QuotableSentence,
): number {
  if (kind === 'amount') return FIGURE.test(text) ? 0.05 : -0.05
  if (kind === 'duration') return SPAN.test(text) ? 0.08 : FIGURE.test(text) ? 0 : -0.05
  if (kind === 'moment') return MOMENT.test(text) ? 0.05 : -0.05
  if (kind === 'person') return NAME.test(text) ? 0.04 : 0
  if (kind === 'way') return below?.isShell || command ? 0.08 : naming ? 0.04 : 0
  if (kind !== 'definition') return 0
  const headed = lead && same(extractContentWords(heading), subject) ? 0.08 : 0
  return headed + defining(text, subject)
}

/** "X is …", and less so "X does …". */
function defining(text: string, subject: readonly string[]): number {
  const words = [...text.matchAll(/[\p{L}\p{N}_-]+/gu)].slice(0, subject.length + 3)
  for (const [at, { 0: word, index }] of words.entries()) {
    const begun = extractContentWords(text.slice(0, index + word.length))
    if (begun.length < subject.length) continue
    if (!same(begun, subject)) return 0
    return IS.test(text.slice(index + word.length)) ? 0.2 : at < words.length - 1 ? 0.1 : 0
  }
  return 0
}

const same = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((word, at) => word === b[at])
