/** Finds the form of a question: for a number, an amount, yes or no, or something else; and questions that no table answers. */
import type { Question, Word } from '../parse-question.ts'
import type { DatePart } from '../query.ts'
import { BUSY_WORDS, GROUP_WORDS, MODAL_WORDS, TRIGGERS, toWords } from '../vocabulary.ts'
import { nameMethods } from '../wording/method-columns.ts'
import { simplifyPhrases } from '../wording/owner-phrases.ts'
import { writePlainly } from '../wording/spoken-forms.ts'

export type Form = 'count' | 'amount' | 'boolean' | 'selection'

/** "How long is the longest event?" asks for an amount. */
const MEASURES = toWords('much long old heavy tall high big large far expensive wide deep fast late early')
const WEEKDAY = /\bweekdays?\b|\bdays? of the week\b/i
const DAY = new RegExp(
  [
    String.raw`\b(?:per|by|each|every|busiest|quietest|best|worst) day\b|\bdaily\b`,
    String.raw`\b(?:which|what) day\b.*\b(?:most|highest|largest|lowest|fewest|best)\b`,
  ].join('|'),
  'i',
)
const POLITE = /^(?:(?:can|could|would|will) you(?: please)?|please|i (?:want|need) to (?:know|see))\s+/i
const CLAUSE = /\s+until (?:it|they|he|she|we) (?:is|are|was|were|gets?|has|have)\b/gi
const FILLER = /\s+(?:at the moment|right now|currently|completely|look(?:s|ed|ing)? after)\b/gi
/** "How do I", "how are refunds paid": the ways of doing something are in texts. */
const PROCEDURE = /^(?:how (?:do|does|did|can|could|should|to|is|are|was|were|would|must|may)|why)\b/i
/** "After how many cups must I …", "how often do I …": rules are in texts, as is what a word means. */
const RULE = new RegExp(
  [
    // Opening hours are no state of rows.
    String.raw`^(?:what|who)(?:'s| is| are)? open (?:on|at)\b|^when (?:do|does|will) .* (?:open|close)\W*$`,
    String.raw`\b(?:must|can|should|may|could) (?:i|we|you)\b|\bdo (?:i|you) (?:have|need) to\b`,
    String.raw`^how (?:often|many times) (?:do|does|should|must) (?:i|you|one)\b|^what (?:does|do|did) .* mean\W*$`,
  ].join('|'),
  'i',
)

/** "Can Tara drive?" asks for a yes or no about a name. */
const ABILITY = /^[Cc]an (?!I\b)\p{Lu}/u

/** "Who should have brought it back by now?" */
const OVERDUE = /\bshould (?:already )?have \w+.*\b(?:by now|already|before (?:today|\d)|but\b.*\bnot)\b/i

/** Whether the question asks how to do something or what is allowed, which no table says. */
export function asksForText({ text, words }: Question): boolean {
  const isRule = words.slice(0, 2).some((word) => MODAL_WORDS.has(word.text)) && !ABILITY.test(text.trim()) && !OVERDUE.test(text)
  return PROCEDURE.test(text.trim()) || RULE.test(text) || isRule
}

const SPENDING =
  /^what (?:(?:did|do|does|have|has) .*\b(?:pay|spend|earn|collect|raise)|(?:is|are) .*\b(?:all|everything|whole|entire)\b.* worth)\b/i

/** "What did we pay", "what is everything worth": amounts are added up. */
export const asksForSpending = ({ text }: Question): boolean => SPENDING.test(text)

/** Removes words that add nothing: "could you please", "at the moment". */
export const removeFiller = (text: string): string =>
  nameMethods(simplifyPhrases(writePlainly(text).replace(POLITE, '').replaceAll(FILLER, '').replaceAll(CLAUSE, '')))

export const asksForNumber = ({ words }: Question): boolean => ['count', 'amount'].includes(getForm(words))

export function getForm(words: readonly Word[]): Form {
  const texts = words.map(({ text }) => text)
  const how = texts.indexOf('how')
  if (how >= 0 && texts[how + 1] === 'many') return 'count'
  if (how >= 0 && MEASURES.has(texts[how + 1] ?? '')) return 'amount'
  if ((TRIGGERS.boolean as readonly string[]).includes(texts[0] ?? '') && !texts.includes('or')) return 'boolean'
  return 'selection'
}

/** "Our best month". */
const PERIOD_SUPERLATIVES = toWords('best worst strongest weakest biggest top')

/** Returns the part of dates that "per month", "yearly" or "which quarter" ask for; "monthly" may be a word of a column. */
export function findDatePart(
  { text: question, words }: Question,
  isColumn: (index: number) => boolean,
  hasDays = false,
): DatePart | undefined {
  const isGrouping = (word: string) =>
    GROUP_WORDS.has(word) || word === 'which' || word === 'what' || BUSY_WORDS.has(word) || (hasDays && PERIOD_SUPERLATIVES.has(word))
  const long = (['month', 'quarter', 'year'] as const).find((name) =>
    words.some(
      ({ text }, index) => (text === `${name}ly` && !isColumn(index)) || (text === name && isGrouping(words[index - 1]?.text ?? '')),
    ),
  )
  if (long || !hasDays) return long
  if (WEEKDAY.test(question)) return 'weekday'
  return DAY.test(question) ? 'day' : undefined
}
