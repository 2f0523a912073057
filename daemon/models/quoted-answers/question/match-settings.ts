/** Finds the settings of configuration files that a question names. */
import { classifyConfigLine } from '../../../language/classify-config-line.ts'
import { extractContentWords } from '../../../language/content-words.ts'
import type { Part } from '../parse-passage.ts'

const NAME = /^[\s#;/]*([\w.$-]+)/
const NAME_BOUNDARY = /[-_.]+|(?<=[a-z\d])(?=[A-Z])/
const MIN_ABBREVIATION_LENGTH = 3
/** A question with more other words is about more than the setting. */
const MIN_SHARE = 0.5
const MIN_WORDS = 2
const MAX_WORDS = 40

/**
 * Returns for each setting whether the question names it, if it names one, also shortened or written apart: "append only" is
 * `appendonly`, "slowlog length" is `slowlog-max-len`.
 */
export function matchSettings(question: string, sets: readonly { content: string; parts: readonly Part[] }[]): Map<Part, boolean> {
  const words = (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, MAX_WORDS)
  const settings = sets.flatMap(({ content, parts }) =>
    parts
      .filter(({ block }) => block.kind === 'setting')
      .map((part) => ({ part, count: countNamed(words, content.slice(part.start, part.end)) })),
  )
  const most = settings.reduce((max, { count }) => Math.max(max, count), 0)
  return new Map(most > 0 ? settings.map(({ part, count }) => [part, count === most]) : [])
}

/** Returns how many words of a question are in the name of a setting, if it is named. */
function countNamed(words: readonly string[], text: string): number {
  const lines = text.split('\n').filter((line) => classifyConfigLine(line, '', '').kind === 'setting')
  const least = MIN_SHARE * countContentWords(words)
  const counts = lines.map((line) => {
    const [, name = ''] = NAME.exec(line) ?? []
    const parts = name.split(NAME_BOUNDARY).map((part) => part.toLowerCase())
    const isShortened = (part: string, word: string) => parts.length > 1 && part.length >= MIN_ABBREVIATION_LENGTH && word.startsWith(part)
    const covers = (part: string, index: number) => {
      const word = words[index] as string
      return part === word || isShortened(part, word) || part === `${words[index - 1]}${word}` || part === `${word}${words[index + 1]}`
    }
    const count = countContentWords(words.filter((_, index) => parts.some((part) => covers(part, index))))
    const isWhole = parts.every((part) => words.some((_, index) => covers(part, index)))
    return count >= MIN_WORDS && (count > least || (isWhole && count === least)) ? count : 0
  })
  return Math.max(0, ...counts)
}

const countContentWords = (words: readonly string[]): number => new Set(extractContentWords(words.join(' '))).size
