/** Decides whether an answer is certain, probable or none. */
import type { Confidence } from '../../../src/contract/schemas/confidence.ts'
import { joinHeadings } from '../../core/headings.ts'
import type { AnswerModels } from '../../inference/embedded-models.ts'
import { isEnglish, isOtherLanguage } from '../../language/content-words.ts'
import type { ContextPassage } from '../chat-model.ts'
import type { MissingTerm } from './question/find-missing-terms.ts'
import { lacksReason } from './question/fits-question.ts'
import type { Answer } from './rank-answers.ts'

/** Calibrated on questions with and without an answer: nine of ten certain and six of ten probable answers are right (docs/reader.md). */
export const MIN_CERTAIN = 8.5
export const MIN_PROBABLE = -2
/** The passages may be about something else. */
const MIN_PROBABLE_WITHOUT_NAME = 2.5
/** Near the limit, a passage that resembles the question more speaks for its answer, and one that resembles it less against it. */
const NEUTRAL_SIMILARITY = 0.4
const SIMILARITY_WEIGHT = 8
const MAX_SIMILARITY_EFFECT = 3
/** In other languages, the model finds passages relevant too easily. */
const MIN_PROBABLE_IN_OTHER_LANGUAGES = 4.9

/** @param missing the kind of term in the question that no passage contains. */
export async function rateConfidence(
  models: Pick<AnswerModels, 'embed'>,
  question: string,
  { likelihood, part }: Answer,
  passage: ContextPassage,
  missing: MissingTerm | undefined,
): Promise<Confidence> {
  const limit = missing === 'name' ? MIN_PROBABLE_WITHOUT_NAME : MIN_PROBABLE
  if (!(await isProbable(models, question, likelihood, passage, limit))) return 'none'
  const isDoubtful = missing !== undefined || lacksReason(question, passage.content.slice(part.start, part.end))
  return likelihood < MIN_CERTAIN || isDoubtful ? 'probable' : 'certain'
}

/** Close to the limit, it also matters how similar the question and the passage are. */
async function isProbable(
  models: Pick<AnswerModels, 'embed'>,
  question: string,
  likelihood: number,
  { headings = [], content }: ContextPassage,
  limit: number,
): Promise<boolean> {
  if (!isEnglish(question) || isOtherLanguage(question, content)) return likelihood >= MIN_PROBABLE_IN_OTHER_LANGUAGES
  const lead = likelihood - limit
  if (Math.abs(lead) > MAX_SIMILARITY_EFFECT) return lead > 0
  const [asked = [], found = []] = await models.embed([question, `${joinHeadings(headings)}\n${content}`])
  const similarity = [...asked].reduce((sum, number, index) => sum + number * (found[index] as number), 0)
  return lead + SIMILARITY_WEIGHT * (similarity - NEUTRAL_SIMILARITY) >= 0
}
