/** The pieces that passages are put together from: sentences, rows, lines of code; and how well a passage may end before each. */

/** How good it is to start a new passage at a piece; added to how full the passage before it is, from 0 to 1. */
export const BREAK_WEIGHT = {
  end: 1.5,
  page: 0.8,
  paragraph: 0.35,
  row: 0.3,
  item: 0.25,
  sentence: 0.1,
  line: -0.1,
  codeLine: -0.15,
  clause: -0.2,
  closing: -0.35,
  word: -0.3,
  character: -0.4,
  /** Between a heading and what it heads. */
  glue: -2,
}

export const getHeadingWeight = (level: number) => 1.3 - Math.min(level, 4) * 0.1

export interface Segment {
  start: number
  end: number
  weight: number
  /** Place of its heading path among the document's paths. */
  section: number
  kind: 'heading' | 'prose' | 'row' | 'code'
}

export interface Span {
  start: number
  end: number
}

const isSpace = (code: number) =>
  code === 0x20 ||
  code === 0x0a ||
  code === 0x09 ||
  code === 0xa0 ||
  code === 0x3000 ||
  (code >= 0x2000 && code <= 0x200b) ||
  code === 0x1680 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0xfeff

/** The span without whitespace at its ends. */
export function trimSpan(text: string, from: number, to: number): Span {
  let [start, end] = [from, to]
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return { start, end }
}

const SENTENCE_BREAK = /[.!?…]{1,8}["'”’)\]*_`]{0,4}\s|[。！？｡]{1,8}[」』”’）]{0,4}|\n/g
const ABBREVIATION =
  /(?:^|[\s(])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|No|Nos|Fig|Figs|Eq|Sec|Ch|Vol|pp?|vs|cf|al|e\.g|i\.e|approx|Inc|Ltd|Co|Corp|Art|Nr|bzw|z\.B|M|Mme|ca|ed|eds)\.$/

/** The sentences and lines of a paragraph; each says whether it starts a sentence. */
export function splitSentences(text: string, from: number, to: number): (Span & { whole: boolean })[] {
  const found: (Span & { whole: boolean })[] = []
  let at = from
  let whole = true
  const take = (end: number, next: boolean) => {
    const span = trimSpan(text, at, end)
    if (span.end > span.start) found.push({ start: span.start, end: span.end, whole })
    at = end
    whole = next
  }
  SENTENCE_BREAK.lastIndex = from
  for (let match = SENTENCE_BREAK.exec(text); match !== null && SENTENCE_BREAK.lastIndex <= to; match = SENTENCE_BREAK.exec(text)) {
    const end = SENTENCE_BREAK.lastIndex
    if (match[0] === '\n') take(end, /[.!?…:。！？]["'”’)\]]?$/.test(text.slice(Math.max(at, end - 4), end - 1)))
    else if (endsSentence(text, match.index, end, match[0], at)) take(end, true)
    else if (match[0].endsWith('\n')) take(end, false)
  }
  take(to, true)
  return found
}

function endsSentence(text: string, at: number, end: number, mark: string, start: number): boolean {
  if (!mark.startsWith('.') || mark.startsWith('..')) return true
  const next = text.charCodeAt(end)
  if (next < 0x80 ? next >= 0x61 && next <= 0x7a : /^\p{Ll}/u.test(text.slice(end, end + 2))) return false
  return !ABBREVIATION.test(text.slice(Math.max(start, at - 12), at + 1))
}

/** Cuts a span into parts of at most `most` characters: after clauses where it can, else between words, else anywhere but within a character. */
export function splitSpan(text: string, { start, end }: Span, most: number): (Span & { weight: number })[] {
  const parts: (Span & { weight: number })[] = []
  let weight = BREAK_WEIGHT.word
  for (let at = start; at < end; ) {
    let to = Math.min(end, at + most)
    let next = BREAK_WEIGHT.word
    if (to < end) ({ at: to, weight: next } = findLastBreak(text, at, to))
    const span = trimSpan(text, at, to)
    if (span.end > span.start) parts.push({ start: span.start, end: span.end, weight })
    at = to
    weight = next
  }
  return parts
}

const CLAUSE_MARKS = new Set([...',;:、，；：)]}|'].map((mark) => mark.charCodeAt(0)))
const isIdeograph = (code: number) => code >= 0x3000 && code <= 0x9fff

function findLastBreak(text: string, from: number, to: number): { at: number; weight: number } {
  let word = 0
  for (let at = to; at > from + (to - from) / 2; at--) {
    const before = text.charCodeAt(at - 1)
    const after = text.charCodeAt(at)
    if (CLAUSE_MARKS.has(before) && (isSpace(after) || isIdeograph(after))) return { at, weight: BREAK_WEIGHT.clause }
    if (word === 0 && (isSpace(before) || isSpace(after))) word = at
  }
  if (word > 0) return { at: word, weight: BREAK_WEIGHT.word }
  return { at: alignToCharacter(text, from, to), weight: BREAK_WEIGHT.character }
}

/** The nearest place at or before `to` that is not within a character: neither between two halves nor before a mark that belongs to the letter. */
export function alignToCharacter(text: string, from: number, to: number): number {
  let at = to
  while (at > from + 1 && at > to - 16 && /^(?:\p{M}|\u200d)/u.test(text.slice(at, at + 2))) at--
  const code = text.charCodeAt(at)
  if (code >= 0xdc00 && code <= 0xdfff) at--
  return at > from ? at : Math.min(to + 1, text.length)
}

/** The first start of a word at or after `from`, before `to`; where there are no words, the first whole character. */
export function findWordStart(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    if (isSpace(text.charCodeAt(at - 1)) && !isSpace(text.charCodeAt(at))) return at
    if (isIdeograph(text.charCodeAt(at)) && !/^[、。，」』）！？ー]/.test(text.charAt(at))) return at
  }
  return to
}
