/** Writes the cited documents below a reply as numbered lines, and finds the citations in its text. */
import { hasPlace } from '../../src/contract/document-types.ts'
import type { Citation } from '../../src/contract/schemas/messages.ts'
import { findCitedNumbers } from '../conversations/reply/citations.ts'
import { formatPassagePlace } from '../core/places.ts'

const SOURCES = /\n\nSources:\n(?:\[\d+\] [^\n]*(?:\n|$))+$/
const MARKER = /\[\d[\d\s,;–-]*\]/g
/** Returns an empty text if nothing is cited. */
export function formatSources(citations: readonly Citation[]): string {
  const lines = citations
    .filter(({ cited }) => cited)
    .sort((a, b) => a.index - b.index)
    .map((citation) => {
      const place = hasPlace(citation) || citation.stale ? `, ${formatPassagePlace(citation)}` : ''
      return `[${citation.index}] ${formatDocument(citation.source)}${place}`
    })
  return lines.length === 0 ? '' : `\n\nSources:\n${lines.join('\n')}`
}

const formatDocument = (source: string): string => source.replaceAll(/\s+/g, ' ')

/** Removes the lines that `formatSources` added to an earlier reply. */
export const removeSources = (text: string): string => text.replace(SOURCES, '')

/** Lists the citations in the order of the text, with their positions. */
export function locateCitations(text: string, citations: readonly Citation[]): { citation: Citation; position: number }[] {
  return [...text.matchAll(MARKER)].flatMap((match) =>
    [...findCitedNumbers(match[0])].flatMap((number) => {
      const citation = citations.find(({ index, cited }) => cited && index === number)
      return citation ? [{ citation, position: match.index }] : []
    }),
  )
}
