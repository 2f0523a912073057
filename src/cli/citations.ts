/** The passages that a reply refers to, as people read them. */
import type { Static } from 'typebox'
import type { Citation as CitationSchema } from '../contract/conversations.ts'
import { passageLines } from './passages.ts'
import type { Paper } from './table.ts'

export type Citation = Static<typeof CitationSchema>

export interface CitationView {
  /** What was asked; its words are marked. */
  query: string
  paper: Paper
  full?: boolean
}

/** Those the text refers to, in its numbers, each below an empty line. */
export function citationLines(citations: readonly Citation[], { query, paper, full = false }: CitationView): string[] {
  return citations
    .filter(({ cited }) => cited)
    .sort((one, other) => one.index - other.index)
    .flatMap(({ index, content, score, source, page, document_id, stale }) => {
      const passage = { content, score, metadata: { source, page, document_id } }
      return ['', ...passageLines(passage, index, stale ? ['The document was changed or removed since.'] : [], { query, paper, full })]
    })
}
