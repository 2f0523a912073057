/** Segments that passages consist of, such as sentences, rows and lines of code, and functions that find them. */

/** Preference for starting a new passage at a segment; added to the fill level (0 to 1) of the passage before it. */
export const BREAK_WEIGHT = {
  end: 1.5,
  page: 0.8,
  /** A setting with its comment, after an empty line. */
  setting: 0.8,
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
  /** Between a heading and the text below it. */
  glue: -2,
}

export const getHeadingWeight = (level: number) => 1.3 - Math.min(level, 4) * 0.1

export interface Segment {
  start: number
  end: number
  weight: number
  /** Index of its section. */
  section: number
  kind: 'heading' | 'prose' | 'row' | 'code' | 'setting' | 'frontMatter'
}

export interface TextRange {
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

export function trimRange(text: string, from: number, to: number): TextRange {
  let [start, end] = [from, to]
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return { start, end }
}

const SENTENCE_BREAK = /[.!?…]{1,8}["'”’)\]*_`]{0,4}\s|[。！？｡]{1,8}[」』”’）]{0,4}|\n/g
const ABBREVIATIONS =
  'Mr Mrs Ms Dr Prof St Jr Sr No Nos Fig Figs Eq Sec Ch Vol p pp vs cf al e.g i.e approx Inc Ltd Co Corp Art Nr bzw z.B M Mme ca ed eds'
const ABBREVIATION = new RegExp(`(?:^|[\\s(])(?:[A-Z]|${ABBREVIATIONS.replaceAll('.', '\\.').replaceAll(' ', '|')})\\.$`)

/** Splits a paragraph at sentence ends and line breaks. */
export function splitSentences(text: string, from: number, to: number): (TextRange & { startsSentence: boolean })[] {
  const sentences: (TextRange & { startsSentence: boolean })[] = []
  let start = from
  let startsSentence = true
  const add = (end: number, nextStartsSentence: boolean) => {
    const span = trimRange(text, start, end)
    if (span.end > span.start) sentences.push({ ...span, startsSentence })
    start = end
    startsSentence = nextStartsSentence
  }
  SENTENCE_BREAK.lastIndex = from
  for (let match = SENTENCE_BREAK.exec(text); match !== null && SENTENCE_BREAK.lastIndex <= to; match = SENTENCE_BREAK.exec(text)) {
    const end = SENTENCE_BREAK.lastIndex
    if (match[0] === '\n') add(end, /[.!?…:。！？]["'”’)\]]?$/.test(text.slice(Math.max(start, end - 4), end - 1)))
    else if (endsSentence(text, match.index, end, match[0], start)) add(end, true)
    else if (match[0].endsWith('\n')) add(end, false)
  }
  add(to, true)
  return sentences
}

function endsSentence(text: string, position: number, end: number, mark: string, start: number): boolean {
  if (!mark.startsWith('.') || mark.startsWith('..')) return true
  const next = text.charCodeAt(end)
  if (next < 0x80 ? next >= 0x61 && next <= 0x7a : /^\p{Ll}/u.test(text.slice(end, end + 2))) return false
  return !ABBREVIATION.test(text.slice(Math.max(start, position - 12), position + 1))
}

/** Splits a span into parts of at most `maxLength` characters: after a clause if possible, else between words or characters. */
export function splitRange(text: string, { start, end }: TextRange, maxLength: number): (TextRange & { weight: number })[] {
  const parts: (TextRange & { weight: number })[] = []
  let weight = BREAK_WEIGHT.word
  for (let from = start; from < end; ) {
    let to = Math.min(end, from + maxLength)
    let nextWeight = BREAK_WEIGHT.word
    if (to < end) ({ position: to, weight: nextWeight } = findLastBreak(text, from, to))
    const span = trimRange(text, from, to)
    if (span.end > span.start) parts.push({ ...span, weight })
    from = to
    weight = nextWeight
  }
  return parts
}

const CLAUSE_MARKS = new Set([...',;:、，；：)]}|'].map((mark) => mark.charCodeAt(0)))
const isIdeograph = (code: number) => code >= 0x3000 && code <= 0x9fff

function findLastBreak(text: string, from: number, to: number): { position: number; weight: number } {
  let wordBreak = 0
  for (let position = to; position > from + (to - from) / 2; position--) {
    const before = text.charCodeAt(position - 1)
    const after = text.charCodeAt(position)
    if (CLAUSE_MARKS.has(before) && (isSpace(after) || isIdeograph(after))) return { position, weight: BREAK_WEIGHT.clause }
    if (wordBreak === 0 && (isSpace(before) || isSpace(after))) wordBreak = position
  }
  if (wordBreak > 0) return { position: wordBreak, weight: BREAK_WEIGHT.word }
  return { position: alignToCharacter(text, from, to), weight: BREAK_WEIGHT.character }
}

/** Returns the last position up to `to` that splits neither a surrogate pair nor a letter from its combining marks. */
export function alignToCharacter(text: string, from: number, to: number): number {
  let position = to
  while (position > from + 1 && position > to - 16 && /^(?:\p{M}|\u200d)/u.test(text.slice(position, position + 2))) position--
  const code = text.charCodeAt(position)
  if (code >= 0xdc00 && code <= 0xdfff) position--
  return position > from ? position : Math.min(to + 1, text.length)
}

/** Returns the first start of a word, or the first ideograph, from `from` up to `to`. */
export function findWordStart(text: string, from: number, to: number): number {
  for (let position = from; position < to; position++) {
    if (isSpace(text.charCodeAt(position - 1)) && !isSpace(text.charCodeAt(position))) return position
    if (isIdeograph(text.charCodeAt(position)) && !/^[、。，」』）！？ー]/.test(text.charAt(position))) return position
  }
  return to
}
