/** Turns the words that the reading model points at into a short answer that can stand alone. */
import { stripMarkdown } from '../../language/parse-markdown.ts'
import type { Span } from './parse-passage.ts'

const MAX_CODE_LENGTH = 80
const NUMBER_WORDS =
  'one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty seventy eighty ninety hundred'
/** A number alone, and the noun after it. */
const NUMBER = new RegExp(String.raw`^[\s(]*(?:[\d.,]+|(?:(?:${NUMBER_WORDS.replaceAll(' ', '|')})[ -]?){1,4})$`, 'i')
const UNIT = /^ (?!(?:of|and|or|to|in|on|at|per|a|an|the|is|are|was|were|by|for|with|from|when|if|as|than)\b)[a-z]{3,15}\b/
const INLINE_CODE = /`([^`\n]{1,80})`/g
/** Characters at the edges of an answer that belong to the sentence around it. */
const LEADING = /^[\s),.;:!?*>|\]}–—]+(?=\S)/
const TRAILING = /[\s(,.;:!*<|[{–—-]+$/
/** Names can start with a mark: .env, ?page, *args. */
const NAME = /^[.?:!*]\w/
const QUOTES = ['""', "''", '“”', '‘’']
const PAIRS = [...QUOTES, '()', '[]', '{}']

/** Extends a span to whole words and whole inline code, within the limits. */
export function extendSpan(content: string, span: Span, limits: Span): Span {
  let { start, end } = span
  const isWordEnd = (position: number) => /\s|^$/.test(content.charAt(position))
  while (start > limits.start && !isWordEnd(start - 1) && span.start - start < MAX_CODE_LENGTH) start--
  while (end < limits.end && !isWordEnd(end) && end - span.end < MAX_CODE_LENGTH) end++
  const unit = NUMBER.test(content.slice(start, end)) ? UNIT.exec(content.slice(end, limits.end)) : null
  if (unit) end += unit[0].length
  for (const match of content.slice(limits.start, limits.end).matchAll(INLINE_CODE)) {
    const from = limits.start + match.index
    const to = from + match[0].length
    if (from < end && to > start) [start, end] = [Math.min(start, from), Math.max(end, to)]
  }
  return { start, end }
}

/** Returns the answer without Markdown and without marks that belong to the sentence around it. */
export function cleanAnswer(text: string): string {
  let answer = stripMarkdown(text)
  for (let previous = ''; previous !== answer; ) {
    previous = answer
    answer = trimMarks(answer)
  }
  return answer
}

function trimMarks(answer: string): string {
  const text = answer.replace(NAME.test(answer) ? /^\s+/ : LEADING, '').replace(TRAILING, '')
  return trimPairs(text).trim()
}

/** Removes quotes and parentheses around the whole answer, and brackets and quotes at its edges whose counterpart is missing. */
function trimPairs(text: string): string {
  const inner = text.slice(1, -1)
  for (const pair of PAIRS) {
    const [opening = '', closing = ''] = pair
    const [isOpened, isClosed] = [text.startsWith(opening), text.endsWith(closing)]
    if (isOpened && isClosed && (QUOTES.includes(pair) || pair === '()') && !inner.includes(opening)) return inner
    if (isOpened && !text.slice(1).includes(closing)) return text.slice(1)
    if (isClosed && !text.slice(0, -1).includes(opening)) return text.slice(0, -1)
  }
  return text
}
