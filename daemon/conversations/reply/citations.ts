/** Numbers the passages that the model was given and finds those that the reply cites. */
import type { Citation } from '../../../src/contract/schemas/messages.ts'
import { formatPassagePlace } from '../../core/places.ts'
import type { RetrievedPassage } from '../../core/tool.ts'
import { parseMarkdown } from '../../language/parse-markdown.ts'

/** [1], [1, 2] and [1-3]; [1][2] is two markers. */
const CITATION_MARKER = /\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\]/g

export class CitationRegistry {
  readonly #passages = new Map<string, Citation>()

  /** A passage that was added before keeps its number. */
  add(passage: RetrievedPassage): Citation {
    const metadata = passage.metadata as RetrievedPassage['metadata'] & Partial<Citation>
    const { source, page, place, document_id = '', headings, start, end, content_hash } = metadata
    const key = JSON.stringify([document_id, source, start, end, passage.content])
    const known = this.#passages.get(key)
    if (known) return known
    const citation: Citation = {
      index: this.#passages.size + 1,
      source,
      page,
      document_id: document_id || source,
      content: passage.content,
      score: passage.score,
      cited: false,
      ...(typeof place === 'string' ? { place } : {}),
      ...(typeof headings === 'string' && headings !== '' ? { headings } : {}),
      ...(typeof start === 'number' ? { start } : {}),
      ...(typeof end === 'number' ? { end } : {}),
      ...(typeof content_hash === 'string' ? { content_hash } : {}),
      ...(passage.stale ? { stale: true } : {}),
    }
    this.#passages.set(key, citation)
    return citation
  }

  /** Returns the passage with this number, from 1. */
  get(number: number): Citation | undefined {
    return [...this.#passages.values()][number - 1]
  }

  /** Lists all citations and marks those that the text cites. */
  listFor(text: string): Citation[] {
    const numbers = findCitedNumbers(text)
    return [...this.#passages.values()].map((citation) => ({ ...citation, cited: numbers.has(citation.index) }))
  }
}

export function findCitedNumbers(text: string): Set<number> {
  const numbers = new Set<number>()
  // In code, a number in brackets is an index.
  const prose = parseMarkdown(text).filter(({ kind }) => kind !== 'code')
  const markers = prose.flatMap(({ start, end }) => [...text.slice(start, end).matchAll(CITATION_MARKER)])
  for (const [, inside = ''] of markers) {
    for (const part of inside.split(/[,;]/)) {
      const [first = 0, last = first] = part.split(/[–-]/).map(Number)
      for (let number = first; number <= Math.min(last, first + 50); number++) numbers.add(number)
    }
  }
  return numbers
}

/** Removes citation markers: their passages are not part of later requests. */
export const removeCitationMarkers = (text: string): string => text.replaceAll(CITATION_MARKER, '').replaceAll(/[ \t]+(?=[.,;:!?]|$)/gm, '')

/** Formats passages as a tool result. */
export function formatPassages(citations: readonly Citation[], descriptions = ''): string {
  if (citations.length === 0) return 'No passages were found.'
  const passages = citations.map(
    (citation) => `[${citation.index}] ${citation.source}, ${formatPassagePlace(citation)}\n${citation.content}`,
  )
  return [...(descriptions === '' ? [] : [descriptions]), ...passages].join('\n\n')
}
