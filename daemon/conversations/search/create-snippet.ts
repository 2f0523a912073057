/** Cuts the part of a message that matches a search, with the positions of the words found. */
import { UNSPACED } from '../../language/tokenize.ts'
import type { SearchTerm } from './search-query.ts'

interface Snippet {
  text: string
  /** Positions in `text`, in UTF-16 code units. */
  highlights: { start: number; end: number }[]
}

const SNIPPET_LENGTH = 160
/** Text before the first match. */
const LEAD_LENGTH = 40
/** How far the ends move to a space. */
const MAX_ADJUSTMENT = 20
const MAX_MATCHES = 200
const LETTER = String.raw`[[\p{L}\p{M}\p{N}\p{Co}]--${UNSPACED.source.slice(0, -1)}]`
const SEPARATOR = String.raw`[^\p{L}\p{M}\p{N}\p{Co}]`

interface Match {
  term: number
  start: number
  end: number
}

/** Finds the words in the text of messages as the index does: without regard to case and accents. */
export function createSnippet(content: string, terms: readonly SearchTerm[]): Snippet {
  const text = content.trim().normalize('NFD')
  const matches = findMatches(text, terms)
  const first = findDensest(matches)
  const start = first ? moveToSpace(text, Math.max(0, first.start - LEAD_LENGTH), 1) : 0
  const end = Math.max(first?.end ?? 0, moveToSpace(text, Math.min(text.length, start + SNIPPET_LENGTH), -1))
  return formatSnippet(
    text,
    start,
    end,
    matches.filter((match) => match.start >= start && match.end <= end),
  )
}

function findMatches(text: string, terms: readonly SearchTerm[]): Match[] {
  const found = terms.flatMap((term, index) => {
    const matches: Match[] = []
    for (const { 0: match, index: start } of text.matchAll(createPattern(term))) {
      matches.push({ term: index, start, end: start + match.length })
      if (matches.length === MAX_MATCHES) break
    }
    return matches
  })
  found.sort((a, b) => a.start - b.start || b.end - a.end)
  const disjoint: Match[] = []
  for (const match of found) if (match.start >= (disjoint.at(-1)?.end ?? 0)) disjoint.push(match)
  return disjoint
}

/** Returns the match from which a snippet contains the most different terms. */
function findDensest(matches: readonly Match[]): Match | undefined {
  let best: Match | undefined
  let bestCount = 0
  for (const [index, match] of matches.entries()) {
    const limit = match.start + SNIPPET_LENGTH - LEAD_LENGTH
    const terms = new Set<number>()
    for (let next = index; next < matches.length && (matches[next] as Match).end <= limit; next++) terms.add((matches[next] as Match).term)
    if (terms.size > bestCount || !best) [best, bestCount] = [match, terms.size]
  }
  return best
}

function createPattern({ words, isPrefix }: SearchTerm): RegExp {
  const isUnspaced = (word: string | undefined) => word !== undefined && word.search(UNSPACED) === 0
  const parts = words.map((word, index) => {
    const before = index === 0 ? (isUnspaced(word) ? '' : `(?<!${LETTER})`) : isUnspaced(words[index - 1]) || isUnspaced(word) ? '*' : '+'
    return `${index === 0 ? before : `${SEPARATOR}${before}`}${createWordPattern(word)}`
  })
  const after = isPrefix ? `${LETTER}*` : isUnspaced(words.at(-1)) ? '' : `(?!${LETTER})`
  return new RegExp(parts.join('') + after, 'giv')
}

/** Accents, which the index does not store. */
const ACCENTS = String.raw`[\u0300-\u036f]`
const EVERY_ACCENT = new RegExp(ACCENTS, 'g')

/** Allows accents after each letter. A word has none itself: with other marks, it could be matched in millions of ways. */
const createWordPattern = (word: string): string =>
  Array.from(word.normalize('NFD').replaceAll(EVERY_ACCENT, ''), (letter) => `${letter}${ACCENTS}*`).join('')

/** Moves a position to the nearest space in a direction, so that no word is cut, or out of a character that it would cut. */
function moveToSpace(text: string, position: number, direction: 1 | -1): number {
  if (position === 0 || position === text.length) return position
  for (let distance = 0; distance <= MAX_ADJUSTMENT; distance++) {
    const moved = position + direction * distance
    if (/\s/.test(text[direction === 1 ? moved - 1 : moved] ?? ' ')) return moved
  }
  while (/[\p{M}\uDC00-\uDFFF]/u.test(text[position] ?? '')) position += direction
  return position
}

function formatSnippet(text: string, start: number, end: number, matches: readonly Match[]): Snippet {
  const highlights: Snippet['highlights'] = []
  const format = (from: number, to: number) => text.slice(from, to).replaceAll(/\s+/g, ' ').normalize('NFC')
  let snippet = start > 0 ? '…' : ''
  let position = start
  for (const match of matches) {
    snippet += format(position, match.start)
    const highlight = format(match.start, match.end)
    highlights.push({ start: snippet.length, end: snippet.length + highlight.length })
    snippet += highlight
    position = match.end
  }
  return { text: `${snippet}${format(position, end).trimEnd()}${end < text.length ? '…' : ''}`, highlights }
}
