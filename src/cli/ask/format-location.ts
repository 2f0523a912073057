/** Formats the document, page and section of a passage. */
import { sanitizeLine } from '../terminal/text.ts'

interface PassageLocation {
  source: string
  page: number
  headings?: string | undefined
}

/** Documents with pages; all others have the page number 1, which is not worth showing. */
const PAGED_DOCUMENT = /\.(?:pdf|docx)(?:[?#].*)?$/i

export function hasPages({ source, page }: PassageLocation): boolean {
  return page > 1 || PAGED_DOCUMENT.test(source)
}

/** Returns `manual.pdf, page 3`, or the name alone for documents without pages. */
export function formatLocation(location: PassageLocation): string {
  return `${sanitizeLine(location.source)}${hasPages(location) ? `, page ${location.page}` : ''}`
}

/** Returns the headings above the passage, such as `Leave › Annual`. */
export function formatSection({ source, headings = '' }: PassageLocation): string {
  // In documents without a title, the first heading is the file name, which is already shown.
  return sanitizeLine(headings)
    .split(' › ')
    .filter((heading, index) => index > 0 || !`/${sanitizeLine(source)}`.endsWith(`/${heading}`))
    .join(' › ')
}
