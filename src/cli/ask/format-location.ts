/** Where a passage stands, as people read it. */
import { oneLine } from '../terminal/text.ts'

export interface PassageLocation {
  source: string
  page: number
}

/** Only these have pages; what else is read stands on page 1 as a whole, which would tell nothing. */
const PAGED_DOCUMENT = /\.(?:pdf|docx)(?:[?#].*)?$/i

export function hasPages({ source, page }: PassageLocation): boolean {
  return page > 1 || PAGED_DOCUMENT.test(source)
}

/** `manual.pdf, page 3`, or the name alone. */
export function formatLocation(place: PassageLocation): string {
  return `${oneLine(place.source)}${hasPages(place) ? `, page ${place.page}` : ''}`
}
