/** Citations: every passage that the model was given, numbered over the whole reply, and which of them the text refers to. */
import type { Static } from 'typebox'
import type { Citation } from '../../../src/contract/families/conversations.ts'
import type { FoundPassage } from '../../core/tool.ts'

export type CitedPassage = Static<typeof Citation>

/** What stands between fences: a number in brackets is an index there. */
const CODE_BLOCK = /^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm

/** [1], [1, 2] and [1-3]; [1][2] is two of them. */
const CITATION_MARKER = /\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\]/g

export class CitationRegistry {
  readonly #passages = new Map<string, CitedPassage>()

  /** The citation of a passage; one that was given before keeps its number. */
  add(passage: FoundPassage): CitedPassage {
    const {
      source,
      page,
      document_id = '',
      start,
      end,
      content_hash,
    } = passage.metadata as FoundPassage['metadata'] & Partial<CitedPassage>
    const key = JSON.stringify([document_id, source, start, end, passage.content])
    const known = this.#passages.get(key)
    if (known) return known
    const citation: CitedPassage = {
      index: this.#passages.size + 1,
      source,
      page,
      document_id: document_id || source,
      content: passage.content,
      score: passage.score,
      cited: false,
      ...(typeof start === 'number' ? { start } : {}),
      ...(typeof end === 'number' ? { end } : {}),
      ...(typeof content_hash === 'string' ? { content_hash } : {}),
    }
    this.#passages.set(key, citation)
    return citation
  }

  /** All of them, with those marked that the text refers to. */
  listFor(text: string): CitedPassage[] {
    const numbers = findCitedNumbers(text)
    return [...this.#passages.values()].map((citation) => ({ ...citation, cited: numbers.has(citation.index) }))
  }
}

export function findCitedNumbers(text: string): Set<number> {
  const numbers = new Set<number>()
  for (const [, inside = ''] of text.replaceAll(CODE_BLOCK, '').matchAll(CITATION_MARKER)) {
    for (const part of inside.split(/[,;]/)) {
      const [first = 0, last = first] = part.split(/[–-]/).map(Number)
      for (let number = first; number <= Math.min(last, first + 50); number++) numbers.add(number)
    }
  }
  return numbers
}

/** Text without references to passages that are not there any more for whoever reads it next. */
export const removeCitationMarkers = (text: string): string => text.replaceAll(CITATION_MARKER, '').replaceAll(/[ \t]+(?=[.,;:!?]|$)/gm, '')

/** Passages as a model that called a tool reads them. */
export function formatPassages(citations: readonly CitedPassage[]): string {
  if (citations.length === 0) return 'No passages were found.'
  return citations.map(({ index, source, page, content }) => `[${index}] ${source}, page ${page}\n${content}`).join('\n\n')
}
