/** The passages that a reply refers to, as people read them. */
import type { Static } from 'typebox'
import type { Citation as CitationSchema } from '../../contract/families/conversations.ts'
import { paint } from '../terminal/color.ts'
import type { Output } from '../terminal/table.ts'
import { wrap } from '../terminal/text.ts'
import { formatPassage } from './format-passages.ts'

export type Citation = Static<typeof CitationSchema>

export interface CitationOptions {
  /** What was asked; its words are marked. */
  query: string
  paper: Output
  full?: boolean
}

/** Those the text refers to, in its numbers, each below an empty line; then a word on numbers between them that it does not use. */
export function formatCitations(citations: readonly Citation[], { query, paper, full = false }: CitationOptions): string[] {
  const lines = citations
    .filter(({ cited }) => cited)
    .sort((one, other) => one.index - other.index)
    .flatMap(({ index, content, score, source, page, document_id, stale }) => {
      const passage = { content, score, metadata: { source, page, document_id } }
      return ['', ...formatPassage(passage, index, stale ? ['The document was changed or removed since.'] : [], { query, paper, full })]
    })
  const over = formatUncitedNote(citations)
  return over === undefined ? lines : [...lines, '', ...wrap(over, paper.columns).map((line) => paint('dim', line, paper.stream))]
}

/** A number is a passage's place among those found, so a text may begin with [2]: said, because it looks as if [1] were lost. */
export function formatUncitedNote(citations: readonly Citation[]): string | undefined {
  const highest = Math.max(0, ...citations.filter(({ cited }) => cited).map(({ index }) => index))
  const numbers = citations.filter(({ cited, index }) => !cited && index < highest).map(({ index }) => `[${index}]`)
  const last = numbers.pop()
  if (last === undefined) return undefined
  return numbers.length === 0
    ? `${last} was found, too, and is not cited.`
    : `${numbers.join(', ')} and ${last} were found, too, and are not cited.`
}
