/** Tells what speaks against quoting a part of a section, or for quoting another one instead. */
import { announces, type Block, type Part } from '../parse-passage.ts'
import { containsNegation } from '../question/detect-question-type.ts'
import { computeOverlap, type QuestionWords } from '../question/question-words.ts'
import { isIncomplete, isStatement, repeatsQuestion } from './is-quotable.ts'

export interface Asked {
  words: QuestionWords
  isYesOrNo: boolean
  /** Whether it asks for what is not the case. */
  isNegated: boolean
  mayBeCode: boolean
}

export interface QuotablePart extends Part {
  words: ReadonlySet<string>
  /** Never an answer. */
  isSkipped: boolean
}

/** "Yes, plugins are supported:" above code answers a question, "It supports the same options:" does not. */
const MIN_VERDICT_OVERLAP = 0.5
const WHETHER = /^\W*whether\b/i

/** Whether a part only repeats the question, as a table of contents does, or only announces code, which says neither yes nor no. */
export function saysNothing({ words, isYesOrNo }: Asked, content: string, blocks: readonly Block[], part: QuotablePart): boolean {
  const text = content.slice(part.start, part.end)
  if (isYesOrNo && WHETHER.test(text)) return true
  if (isYesOrNo && announcesCode(content, blocks, part)) return computeOverlap(words, part.words) < MIN_VERDICT_OVERLAP
  return repeatsQuestion(words, text) && !(isYesOrNo && isStatement(text))
}

export const isBelowHeading = (parts: readonly QuotablePart[], position: number): boolean =>
  position === 0 || parts[position - 1]?.block.kind === 'heading'

/**
 * Returns the sentence of a section with most words of the question if the first one, with this position, has none: which level
 * somebody has is in the heading, and what is asked of them somewhere below it.
 */
export function findEvidence(question: Asked, content: string, parts: readonly QuotablePart[], first: number): Part | undefined {
  let [most, evidence]: [number, Part | undefined] = [0, undefined]
  for (let position = first; parts[position] && parts[position]?.block.kind !== 'heading'; position++) {
    const part = parts[position] as QuotablePart
    const isSentence = (part.block.kind === 'text' || part.block.kind === 'item') && !part.isSkipped && !isIncomplete(content, part)
    const overlap = isSentence ? computeOverlap(question.words, part.words) : 0
    if (position === first && (!isSentence || overlap > 0)) return undefined
    // "Unlike Pro, it has no phone support" denies what the heading would be quoted for.
    const isDenied = !question.isNegated && containsNegation(content.slice(part.start, part.end))
    if (overlap > most && !isDenied) [most, evidence] = [overlap, part]
  }
  return evidence
}

/** Whether a sentence introduces the code below it. */
function announcesCode(content: string, blocks: readonly Block[], { start, end, block, blockIndex }: Part): boolean {
  const isAbove = blocks[blockIndex + 1]?.kind === 'code' && content.slice(end, block.end).trim() === ''
  return isAbove && announces(content.slice(start, end))
}

/** Whether a sentence only introduces the code below it, as "An example:" does, and has no clear answer itself. */
export const announcesOnlyCode = (content: string, blocks: readonly Block[], part: Part, isClear: boolean): boolean =>
  announcesCode(content, blocks, part) && (!isClear || /\bexample\b/i.test(content.slice(part.start, part.end)))
