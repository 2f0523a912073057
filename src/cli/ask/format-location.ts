/** Formats the document, place and section of a passage. */
import { hasPlace } from '../../contract/document-types.ts'
import { sanitizeLine } from '../terminal/text.ts'

interface PassageLocation {
  source: string
  page: number
  place?: string | undefined
  headings?: string | undefined
}

/** Returns `page 3`, `slide 3` or `sheet Budget`; undefined for documents without pages. */
export function formatPlace(location: PassageLocation): string | undefined {
  return hasPlace(location) ? sanitizeLine(location.place ?? `page ${location.page}`) : undefined
}

/** Returns `manual.pdf, page 3`, or the name alone for documents without pages. */
export function formatLocation(location: PassageLocation): string {
  return [sanitizeLine(location.source), formatPlace(location)].filter((part) => part !== undefined).join(', ')
}

/** Returns the headings above the passage, such as `Leave › Annual`. */
export function formatSection({ source, headings = '' }: PassageLocation): string {
  // In documents without a title, the first heading is the file name, which is already shown.
  return sanitizeLine(headings)
    .split(' › ')
    .filter((heading, index) => index > 0 || !`/${sanitizeLine(source)}`.endsWith(`/${heading}`))
    .join(' › ')
}
