/** Formats the passages that a reply cites. */
import type { Citation } from '../../contract/schemas/messages.ts'
import { paint } from '../terminal/color.ts'
import { wrap } from '../terminal/text.ts'
import { findCitedText } from './find-quote.ts'
import { formatPassage, type PassageOptions } from './format-passages.ts'

/** Formats the cited passages in order of their numbers, each after an empty line, and a note about skipped numbers. */
export function formatCitations(citations: readonly Citation[], reply: string, options: PassageOptions): string[] {
  const { columns, stream } = options.output
  const lines = citations
    .filter(({ cited }) => cited)
    .sort((a, b) => a.index - b.index)
    .flatMap(({ index, content, score, source, page, place, document_id, headings, stale }) => {
      const passage = { content, score, metadata: { source, page, place, document_id, headings }, ...(stale ? { stale } : {}) }
      return ['', ...formatPassage(passage, index, [], { ...options, quoted: findCitedText(reply, index) })]
    })
  const note = formatUncitedNote(citations)
  return note === undefined ? lines : [...lines, '', ...wrap(note, columns).map((line) => paint('dim', line, stream))]
}

/** Explains skipped numbers: passages are numbered as they were found, so a reply may cite [2] without [1]. */
export function formatUncitedNote(citations: readonly Citation[]): string | undefined {
  const highest = Math.max(0, ...citations.filter(({ cited }) => cited).map(({ index }) => index))
  const numbers = citations.filter(({ cited, index }) => !cited && index < highest).map(({ index }) => `[${index}]`)
  const last = numbers.pop()
  if (last === undefined) return undefined
  return numbers.length === 0
    ? `${last} was also found but is not cited.`
    : `${numbers.join(', ')} and ${last} were also found but are not cited.`
}
