/** Where a passage stands, as people read it. */
import { oneLine } from '../terminal/text.ts'

export interface Place {
  source: string
  page: number
}

/** Only these have pages; what else is read stands on page 1 as a whole, which would tell nothing. */
const PAGED = /\.(?:pdf|docx)(?:[?#].*)?$/i

export function hasPages({ source, page }: Place): boolean {
  return page > 1 || PAGED.test(source)
}

/** `manual.pdf, page 3`, or the name alone. */
export function placeOf(place: Place): string {
  return `${oneLine(place.source)}${hasPages(place) ? `, page ${place.page}` : ''}`
}
