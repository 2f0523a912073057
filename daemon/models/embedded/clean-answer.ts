/** Turns the words that the reading model points at into a short answer that can stand alone. */
import { type Span, stripMarkdown } from './parse-passage.ts'

const MAX_CODE_LENGTH = 80
const INLINE_CODE = /`([^`\n]{1,80})`/g
/** Characters at the edges of an answer that do not belong to it, unless their counterpart is inside. */
const LEADING = /^[\s"'“”‘’(),.;:!?*_>|\]–—-]+(?=\S)/
const TRAILING = /[\s"'“”‘’(,.;:!*_<|[–—]+$/
const PAIRS: readonly (readonly [string, string])[] = [
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['“', '”'],
]

/** Extends a span to whole words and whole inline code, within the limits. */
export function extendSpan(content: string, span: Span, limits: Span): Span {
  let { start, end } = span
  const isWordEnd = (position: number) => /\s|^$/.test(content.charAt(position))
  while (start > limits.start && !isWordEnd(start - 1) && span.start - start < MAX_CODE_LENGTH) start--
  while (end < limits.end && !isWordEnd(end) && end - span.end < MAX_CODE_LENGTH) end++
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
  let text = answer.replace(LEADING, (marks) => (isPaired(answer, marks) ? marks : ''))
  text = text.replace(TRAILING, '')
  const last = text.at(-1) ?? ''
  const pair = PAIRS.find(([, closing]) => closing === last)
  return pair && !text.slice(0, -1).includes(pair[0]) ? text.slice(0, -1).trimEnd() : text.trim()
}

/** An opening mark is kept if its closing mark follows in the answer; a minus is kept before a number or a letter. */
function isPaired(answer: string, marks: string): boolean {
  const mark = marks.at(-1) ?? ''
  if (mark === '-') return /^-{1,2}\w/.test(answer.slice(marks.length - (marks.endsWith('--') ? 2 : 1)))
  if (mark === '.') return /^\.[\w/]/.test(answer.slice(marks.length - 1))
  const pair = PAIRS.find(([opening]) => opening === mark)
  return marks.length === 1 && pair !== undefined && answer.indexOf(pair[1]) > 0
}
