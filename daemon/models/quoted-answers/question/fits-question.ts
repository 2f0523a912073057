/** Checks whether a short answer is of the type that the question word asks for: a person, a time, a quantity, a name. English. */
import { extractContentWords } from '../../../language/content-words.ts'
import { expandQuery } from '../../../language/expand-query.ts'
import { isPlural } from './detect-question-type.ts'
import { readQuestion, type ValueType } from './read-question.ts'
import {
  COUNT,
  COUNTED,
  EMAIL_ADDRESS,
  ENVIRONMENT_VARIABLE,
  LENGTH,
  NUMBER,
  PERCENTAGE,
  PERSON,
  PHONE_NUMBER,
  PRICE,
  QUANTITY,
  REASON,
  TIME,
  WEIGHT,
} from './value-patterns.ts'

interface ShortAnswer {
  text: string
  /** The quoted text that contains it. */
  quote: string
  /** The quoted text up to the answer, and that below it. */
  before: string
  after: string
}

/** What a text must have to answer a question of a type. */
const VALUES: Partial<Record<ValueType, RegExp>> = {
  count: COUNT,
  quantity: QUANTITY,
  number: NUMBER,
  time: TIME,
  weight: WEIGHT,
  length: LENGTH,
  price: PRICE,
  percentage: PERCENTAGE,
  phone: PHONE_NUMBER,
  email: EMAIL_ADDRESS,
  variable: ENVIRONMENT_VARIABLE,
}
/** What "how many" asks for. */
const COUNTED_NOUN = /^many\s+(?:\p{L}+\s+)??(\p{L}+s|people|children|men|women)\b/iu
/** Longer quotes are code or lists, and have numbers. */
const MAX_QUOTE_LENGTH = 3_000
const UNIT = /^(?:second|minute|hour|day|week|month|year|percent|%)$/i
/** Times that something is done have many names. */
const REPETITION = /^(?:times|attempts|tries|retries)$/i
const CONDITION = /^(?:if|unless|provided)\b/i
/** "When does it end?" may be answered by what ends it. */
const OCCASION = /\b(?:if|unless|provided|once|whenever|as soon as|in an?|in the (?:case|event))\b/iu
/** A person after one of these is not the one who acts. */
const OBJECT_BEFORE = /\b(?:through|from|with|via|at|of|for|to|in|on|under|into|about)\s+(?:(?:the|an?|our|your)\s+)?$/i
/** What somebody does may have another verb than the question: "led by" answers who leads. */
const ACTOR_BEFORE = /\bby\s+(?:(?:the|an?|our|your|\p{Lu}\p{Ll}+)\s+)?$/u
/** A part of an answer is no answer: "… and from 13:00 to 15:00", "… and Mr Stone". */
const MORE_TIMES = /^\s*(?:,|and|or)\s+(?:from|between)\s+\d/i
const MORE_PEOPLE = /^\s*(?:and|&)\s+(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+)?\p{Lu}\p{Ll}/u
const AUXILIARY = /^(?:am|are|be|been|can|could|did|do|does|had|has|have|is|may|might|must|shall|should|was|were|will|would)$/i
const IDENTIFIER = /(?:--?)?[\p{L}$@][\p{L}\p{N}$@]*(?:[_.:/-][\p{L}\p{N}$@]+|\p{Lu}[\p{L}\p{N}]*)+|--?\p{L}[\p{L}-]*/gu

export function fitsQuestion(question: string, answer: ShortAnswer): boolean {
  const { word, rest, type } = readQuestion(question)
  const { text, quote } = answer
  if (type === undefined) return true
  if (VALUES[type]?.test(text) === false) return false
  switch (type) {
    case 'count':
      return !countsOther(rest, text) && !lacksUnit(rest, text)
    case 'time':
      return !MORE_TIMES.test(answer.after) && (word !== 'when' || !CONDITION.test(text) || saysAll(rest, quote))
    case 'place':
      return /\p{L}/u.test(text)
    case 'person':
      return PERSON.test(text) && !MORE_PEOPLE.test(answer.after) && isActor(rest, answer)
    case 'name':
    case 'variable':
      return isBestName(question, answer)
    default:
      return true
  }
}

/** Whether a question asks for a value, such as a quantity, a time or a price, and the quoted text has none. */
export function lacksAskedValue(question: string, text: string): boolean {
  const { word, rest, type } = readQuestion(question)
  const quote = text.slice(0, MAX_QUOTE_LENGTH)
  const value = type && VALUES[type]
  if (type === 'count' && countsOther(rest, quote)) return true
  return value !== undefined && !value.test(quote) && !(word === 'when' && OCCASION.test(quote))
}

/** "Why …?": a quote without a reason may only repeat what the question says. */
export const lacksReason = (question: string, quote: string): boolean => readQuestion(question).word === 'why' && !REASON.test(quote)

/** Whether each number of a text counts something else: "up to one minute" does not say how many attempts there are. */
function countsOther(rest: string, text: string): boolean {
  const [, noun = ''] = COUNTED_NOUN.exec(rest) ?? []
  const counted = [...text.matchAll(COUNTED)].map(([, first = '', second = '']) => [first, second])
  if (noun === '' || counted.length === 0) return false
  const forms = new Set([noun, ...expandQuery(noun)].flatMap(extractContentWords))
  const isSame = (word: string) => extractContentWords(word).some((stem) => forms.has(stem))
  // Four weeks are an answer in days.
  const isUnit = (word: string) => UNIT.test(word.replace(/s$/, ''))
  // "Eight developers" are people.
  const isOther = (word: string) => (isUnit(word) ? !isUnit(noun) : isPlural(word) && !PERSON.test(word) && !REPETITION.test(noun))
  return counted.every((words) => !words.some(isSame) && words.some(isOther))
}

/** "How many months does it run?" is not answered by a date. */
function lacksUnit(rest: string, text: string): boolean {
  const [, noun = ''] = COUNTED_NOUN.exec(rest) ?? []
  const isUnit = (word: string) => UNIT.test(word.replace(/s$/i, ''))
  return isUnit(noun) && /\p{L}/u.test(text) && !(text.match(/[\p{L}%]+/gu) ?? []).some(isUnit)
}

/** "The nomination passes if nobody opposes it" does not say when it fails. */
const saysAll = (words: string, quote: string): boolean => words.split(/\s+/).every(createSaid(quote))

/** Returns whether a text says a word, or another one for it. */
function createSaid(text: string): (word: string) => boolean {
  const said = new Set(extractContentWords(text))
  const says = (stems: readonly string[]) => stems.every((stem) => said.has(stem))
  return (word) =>
    says(extractContentWords(word)) ||
    expandQuery(word)
      .map(extractContentWords)
      .some((stems) => stems.length > 0 && says(stems))
}

/** Whether the quote says who does what the question asks for: the insurer is not the one who pays. */
function isActor(rest: string, { quote, before }: ShortAnswer): boolean {
  const words = rest.match(/[\p{L}\p{N}'’-]+/gu) ?? []
  const isPassive = AUXILIARY.test(words[0] ?? '')
  if (ACTOR_BEFORE.test(before)) return true
  if (!isPassive && OBJECT_BEFORE.test(before)) return false
  const [verb = '', ...others] = words.filter((word) => !AUXILIARY.test(word))
  // "Who is our ombudsperson?" has no verb of its own.
  const nouns = isPassive && !verb.endsWith('ing') ? others.filter((word) => extractContentWords(word).length > 0) : []
  return [verb, ...nouns].some(createSaid(quote))
}

/** Whether no other name of the quote has more words of the question: RESTIC_PASSWORD_FILE is the password file, not RESTIC_PASSWORD. */
function isBestName(question: string, { text, quote }: ShortAnswer): boolean {
  const words = new Set(extractContentWords(question))
  const count = (name: string) => {
    const parts = name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    return new Set(extractContentWords(parts).filter((part) => words.has(part))).size
  }
  const own = count(text)
  return !(quote.match(IDENTIFIER) ?? []).some((name) => !text.includes(name) && count(name) > own)
}
