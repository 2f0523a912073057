/** Completes questions that refer to the conversation so far, for models that see one question at a time. */
import type { ChatMessage } from './chat-model.ts'
import { replaceItem } from './replace-item.ts'

const STARTS_FOLLOW_UP =
  /^\W*(?:and|but|also|or|so|then|what about|how about|und|oder|auch|was ist mit|wie (?:ist|sieht|steht) es (?:mit|bei))\b/iu
const PRONOUN = new RegExp(
  String.raw`\b(?:its|it|their|they|them|those|these|this|that|his|her|him|he|she|ones|dessen|deren|davon|es)\b` +
    String.raw`(?!\s+(?:is|are|was|were)\s+(?:possible|true|ok))`,
  'iu',
)
const POSSESSIVE = /^(?:its|their|his|her|dessen|deren)$/i
/** Names of options, functions, files and commands, and text in quotes. */
const NAME =
  /`([^`\n]{1,80})`|["“]([^"”\n]{2,80})["”]|(?<![\w-])(--?[a-z][\w-]+|\w+[._/]\w[\w./-]*|[a-z]+[A-Z]\w*|[A-Z]+_[A-Z_]+|[A-Z]\w*[A-Z]\w*)/gu
const QUESTION_WORDS = new Set(
  `a about am an and any are as at be can could did do does far for from get give has have how i if in is it long many may me
  might much must my of often on one or our s shall should tell than that the there these they this those to us was we were what
  what's when where which who whom whose why will with would you your`.split(/\s+/),
)
const NEGATION = /^(?:not|never|nicht|nie)$/i
const MAX_TURNS = 3
const MAX_TOPIC_WORDS = 8

interface Turn {
  question: string
  answer: string
}

/** Returns the last user message, completed from the turns before it. */
export function resolveLastQuestion(messages: readonly ChatMessage[]): string {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const turns: Turn[] = []
  for (const { role, content } of messages.slice(0, Math.max(0, last))) {
    if (role === 'user') turns.push({ question: content, answer: '' })
    else if (role === 'assistant' && turns.length > 0) (turns.at(-1) as Turn).answer += content
  }
  return resolveFollowUp(messages[last]?.content ?? '', turns)
}

/** Returns the question as it is if it makes sense alone. */
function resolveFollowUp(question: string, turns: readonly Turn[]): string {
  const previous = turns.at(-1)
  if (!previous || !isFollowUp(question)) return question
  const earlier = turns.slice(Math.max(0, turns.length - MAX_TURNS), -1)
  const before = resolveFollowUp(previous.question, earlier)
  const replaced = replaceItem(before, question)
  if (replaced !== undefined) return replaced
  const topic = findTopic(before, previous.answer, question)
  if (topic === '' || question.includes(topic)) return question
  const pronoun = STARTS_FOLLOW_UP.test(question) ? null : PRONOUN.exec(question)
  if (!pronoun) return `${question.trim().replace(/(?<![?？.])[?？.]+$/, '')} (${topic})?`
  const replacement = POSSESSIVE.test(pronoun[0]) ? `${topic}’s` : topic
  return `${question.slice(0, pronoun.index)}${replacement}${question.slice(pronoun.index + pronoun[0].length)}`
}

function isFollowUp(question: string): boolean {
  if (STARTS_FOLLOW_UP.test(question)) return true
  const words = extractTopicWords(question)
  if (listNames(question).length > 0) return false
  return words.length < 2 || (PRONOUN.test(question) && words.length < 8)
}

/** Returns the name that the previous answer or question is about, or the words of the question that the next one does not repeat. */
function findTopic(question: string, answer: string, next: string): string {
  const [name] = listNames(question)
  if (name !== undefined) return name
  const short = /^\*\*(.{1,80}?)\*\*/.exec(answer)?.[1] ?? ''
  if (listNames(short).length > 0) return short
  const repeated = new Set(extractTopicWords(next).map((word) => word.toLowerCase()))
  const isRepeated = (word = '') => repeated.has(word.toLowerCase())
  // "What is not allowed in the hall?", then "And what is allowed?" asks for the opposite.
  const words = extractTopicWords(question).filter(
    (word, index, all) => !isRepeated(word) && !(NEGATION.test(word) && isRepeated(all[index + 1])),
  )
  return words.slice(0, MAX_TOPIC_WORDS).join(' ')
}

const listNames = (text: string) => [...text.matchAll(NAME)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')

function extractTopicWords(question: string): string[] {
  return (question.match(/[\p{L}\p{N}_'’-]+/gu) ?? []).filter((word) => !QUESTION_WORDS.has(word.toLowerCase().replace('’', "'")))
}
