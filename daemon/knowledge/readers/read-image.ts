/** Reads images: their text comes from text recognition. */
import type { Places } from '../../core/places.ts'
import { type Recognition, UNCERTAIN_CONFIDENCE } from '../recognition/recognized-page.ts'
import { type ImageFormat, inspectImage } from './inspect-image.ts'
import { cleanText, DocumentReadError, type ParsedDocument } from './parsed-document.ts'

/** Characters are not legible in smaller images, such as icons. */
const MIN_SIDE = 24
const NO_TEXT_MESSAGE = 'No text was found in the image.'
export const RECOGNITION_OFF_MESSAGE = 'Text recognition is off for this source (--no-ocr).'

/** A document without text. */
export const createSkipped = (skipReason: string): ParsedDocument => ({ text: '', format: 'plain', pages: [], title: null, skipReason })

export function readImage(bytes: Uint8Array, format: ImageFormat, { isEnabled, pages: recognized }: Recognition): ParsedDocument {
  const { width, height, pages: count } = inspectImage(bytes, format)
  if (Math.min(width, height) < MIN_SIDE) return createSkipped(`The image is too small to have text: ${width} × ${height} pixels.`)
  if (!isEnabled && recognized.length < count) return createSkipped(RECOGNITION_OFF_MESSAGE)
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const scans = numbers.filter((number) => !recognized.some(({ page }) => page === number))
  if (scans.length > 0) return { text: '', format: 'plain', pages: [], title: null, scans }
  const problem = recognized.find((page) => page.problem !== undefined)?.problem
  let text = ''
  const pages: ParsedDocument['pages'] = []
  for (const page of recognized) {
    pages.push({ number: page.page, start: text.length + (text === '' ? 0 : 2) })
    text += `${text === '' ? '' : '\n\n'}${cleanText(page.text)}`
  }
  if (!/[\p{L}\p{N}]/u.test(text)) {
    if (problem !== undefined) throw new DocumentReadError(problem)
    return createSkipped(NO_TEXT_MESSAGE)
  }
  return { text, format: 'plain', title: null, pages, ...describeRecognition(recognized, count === 1) }
}

/** Marks the recognised pages, and says which of them are uncertain or could not be recognised. */
export function describeRecognition(recognized: Recognition['pages'], isSinglePage = false): Pick<ParsedDocument, 'places' | 'notice'> {
  const uncertain = recognized.filter(({ text, confidence }) => text !== '' && confidence < UNCERTAIN_CONFIDENCE)
  const failed = recognized.filter(({ problem }) => problem !== undefined)
  const notices = [
    uncertain.length > 0 ? `Text recognition is uncertain${isSinglePage ? '' : ` on ${formatPages(uncertain)}`}.` : '',
    failed.length > 0 ? `Text recognition failed on ${formatPages(failed)}: ${failed[0]?.problem}` : '',
  ].filter(Boolean)
  const places: Places = { kind: 'page', recognized: recognized.filter(({ text }) => text !== '').map(({ page }) => page) }
  return { places, notice: notices.join(' ') || undefined }
}

const MAX_LISTED = 10

function formatPages(pages: Recognition['pages']): string {
  const numbers = pages.slice(0, MAX_LISTED).map(({ page }) => page)
  const more = pages.length > MAX_LISTED ? ` and ${pages.length - MAX_LISTED} more` : ''
  return `${pages.length === 1 ? 'page' : 'pages'} ${numbers.join(', ')}${more}`
}
