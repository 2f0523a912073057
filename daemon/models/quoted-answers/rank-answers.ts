/** Chooses the answer to a question from what the reading model says about each passage. */
import { type Candidate, type Features, listCandidates, type QuotableAnswer, type ReadPassage } from './candidates/list-candidates.ts'

export interface Answer extends QuotableAnswer {
  /** Compares answers of different passages. */
  score: number
  /** How likely this is an answer. Limits make it the confidence of the reply. */
  likelihood: number
  /** Share of the question's words in the passage. */
  overlap: number
  /** A record or row that has the names and numbers of the question. */
  isNamedRecord: boolean
  /** The part cannot be quoted alone, or only repeats words of the question, as a table of contents does. */
  isUseless: boolean
  /** Words of the question in the part. */
  covered: ReadonlySet<string>
}

/** Weights were chosen on questions about an encyclopedia and on the working half of bench/answers (docs/reader.md). */
const WEIGHTS = { partOverlap: 2, rank: -0.7 }
const USELESS_PENALTY = 5
const OTHER_RECORD_PENALTY = 20
const LACKING_NUMBER_PENALTY = 8
const CODE_PENALTY = 1
const LACKING_NEGATION_PENALTY = 6
const LACKING_ADDITION_PENALTY = 8
/** The model points at code too easily: most questions without an answer end there. */
const CODE_LIKELIHOOD_PENALTY = 4
/**
 * An answer of a relevant passage that shares words with the question, or is much better than those of all other passages, is
 * more likely. The part's own score says less: the model finds a part in most passages that are about the question.
 */
const LIKELIHOOD_WEIGHTS = { relevance: 1.5, partOverlap: 1.5, lead: 0.8 }
const MAX_LEAD = 5
/** Lead of an answer that is not compared with others. */
const NEUTRAL_LEAD = 2
/** Between sentences whose scores are this close, the model is undecided. */
const UNDECIDED_GAP = 2
/** The next sentence may be this much worse if it has words of the question that the best one lacks. */
const QUALIFYING_GAP = 5

/**
 * Returns the best answer of each passage, best first.
 * @param addition what a follow-up question adds to the one before.
 */
export async function rankAnswers(question: string, passages: readonly ReadPassage[], addition = ''): Promise<Answer[]> {
  const answers = (await listCandidates(question, passages, addition)).map((candidates) => candidates.map(createAnswer))
  const [best, ...others] = answers.flatMap((list) => selectBestOfPassage(list) ?? []).sort((a, b) => b.score - a.score)
  if (!best) return []
  const lead = computeLead(best, others, passages)
  return [best, ...others].map((answer) => ({
    ...answer,
    likelihood: answer.likelihood + LIKELIHOOD_WEIGHTS.lead * (answer === best ? lead : NEUTRAL_LEAD),
  }))
}

/** Returns by how much the best answer is better than the next one that says something else. */
function computeLead(best: Answer, others: readonly Answer[], passages: readonly ReadPassage[]): number {
  const getText = ({ passage, span, heading }: Answer) =>
    (heading ?? (passages[passage] as ReadPassage).content.slice(span.start, span.end)).toLowerCase()
  const text = getText(best)
  const rival = others.find((other) => !getText(other).includes(text) && !text.includes(getText(other)))
  return rival ? Math.min(MAX_LEAD, best.score - rival.score) : NEUTRAL_LEAD
}

/** Returns the best answer of a passage, with a neighbouring sentence if the model is undecided, or with the next one if it qualifies. */
function selectBestOfPassage(answers: readonly Answer[]): Answer | undefined {
  const [best, second] = [...answers].sort((a, b) => b.score - a.score)
  if (!best) return undefined
  const position = answers.indexOf(best)
  const isNeighbour = second && Math.abs(answers.indexOf(second) - position) === 1 && second.part.block === best.part.block
  if (isNeighbour && !second.isUseless && best.score - second.score <= UNDECIDED_GAP) return joinNeighbours(best, second)
  const next = answers[position + 1]
  return next && qualifies(next, best) ? { ...joinNeighbours(best, next), isClear: false } : best
}

/** Whether the next sentence has words of the question that the answer lacks: "A seat costs €35. Students pay €20." */
const qualifies = (next: Answer, best: Answer): boolean =>
  next.part.block === best.part.block &&
  !next.isUseless &&
  best.score - next.score <= QUALIFYING_GAP &&
  [...next.covered].some((word) => !best.covered.has(word))

function joinNeighbours(best: Answer, other: Answer): Answer {
  const [start, end] = [Math.min(best.part.start, other.part.start), Math.max(best.part.end, other.part.end)]
  return { ...best, part: { ...best.part, start, end } }
}

const createAnswer = ({ answer, features }: Candidate): Answer => ({
  ...answer,
  score: computeScore(features),
  likelihood: computeLikelihood(features),
  overlap: features.passageOverlap,
  isNamedRecord: features.isRecordMatch === true,
  isUseless: features.isUseless,
  covered: features.covered,
})

function computeScore({ reading, partOverlap, rank, isCode, isRecordMatch, isUseless, lacksNegation, lacksAddition }: Features): number {
  const penalty =
    (isCode ? CODE_PENALTY : 0) +
    (isUseless ? USELESS_PENALTY : 0) +
    (isRecordMatch === false ? OTHER_RECORD_PENALTY : 0) +
    (lacksNegation ? LACKING_NEGATION_PENALTY : 0) +
    (lacksAddition ? LACKING_ADDITION_PENALTY : 0)
  return reading + WEIGHTS.partOverlap * partOverlap + WEIGHTS.rank * rank - penalty
}

function computeLikelihood({ relevance, partOverlap, isCode, lacksNumber }: Features): number {
  const penalty = (isCode ? CODE_LIKELIHOOD_PENALTY : 0) + (lacksNumber ? LACKING_NUMBER_PENALTY : 0)
  return LIKELIHOOD_WEIGHTS.relevance * relevance + LIKELIHOOD_WEIGHTS.partOverlap * partOverlap - penalty
}
