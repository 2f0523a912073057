/** Reads PDF files: the text of every page as paragraphs and headings. */
import { getDocumentProxy } from 'unpdf'
import type { Recognition } from '../../recognition/recognized-page.ts'
import { DECOMPRESSION_LIMIT_MESSAGE } from '../limit-allocations.ts'
import { cleanText, DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { createSkipped, describeRecognition, RECOGNITION_OFF_MESSAGE } from '../read-image.ts'
import { buildLines, type PdfPage, type TextItem } from './lines.ts'
import { measureLayout, PageWriter } from './paragraphs.ts'

export type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

const MAX_PAGES = 20_000

export async function readPdf(bytes: Uint8Array, recognition: Recognition): Promise<ParsedDocument> {
  // Before the document is opened: the PDF library detaches the bytes.
  const hints = inspectBytes(bytes)
  const pdf = await openPdf(bytes)
  try {
    if (pdf.numPages > MAX_PAGES) throw new DocumentReadError(`The PDF has ${pdf.numPages} pages; the maximum is ${MAX_PAGES}.`)
    const { pages, unreadable } = await readPages(pdf)
    const writer = new PageWriter(measureLayout(pages))
    const empty = hints.hasImages ? pages.flatMap(({ lines }, index) => (lines.length === 0 ? [index + 1] : [])) : []
    const recognized = new Map(recognition.pages.filter(({ page }) => empty.includes(page)).map((page) => [page.page, page]))
    for (const [index, page] of pages.entries()) writer.writePage(index + 1, page, recognized.get(index + 1)?.text)
    const text = cleanText(writer.text)
    const missing = empty.filter((page) => !recognized.has(page))
    const scans = recognition.isEnabled ? missing : []
    if (!/[\p{L}\p{N}]/u.test(text) && scans.length === 0)
      return recognized.size > 0 ? describeUnrecognized([...recognized.values()]) : describeMissingText(pdf.numPages, unreadable, hints)
    return {
      text,
      format: 'markdown',
      pages: writer.pages,
      title: await findTitle(pdf, writer.firstHeading),
      ...(recognized.size > 0 ? describeRecognition([...recognized.values()]) : {}),
      ...(scans.length > 0 ? { scans } : {}),
    }
  } finally {
    // A failed cleanup does not affect the result.
    await pdf.destroy().catch(() => undefined)
  }
}

export async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  try {
    // Runs no scripts and loads no external fonts or character maps.
    return await getDocumentProxy(bytes, {
      verbosity: 0,
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      stopAtErrors: false,
    })
  } catch (error) {
    const { name } = error as Error
    if (name === 'PasswordException') throw new DocumentReadError('The PDF is password-protected.')
    throw new DocumentReadError(`The PDF is damaged: ${explainError(error as Error)}`)
  }
}

function explainError({ message }: Error): string {
  if (/root|catalog|trailer|xref/i.test(message)) return 'its cross-reference table cannot be read.'
  return /empty|zero/i.test(message) ? 'it is empty.' : 'it cannot be opened.'
}

async function readPages(pdf: Pdf): Promise<{ pages: PdfPage[]; unreadable: number }> {
  const pages: PdfPage[] = []
  let unreadable = 0
  for (let number = 1; number <= pdf.numPages; number++) {
    try {
      const page = await pdf.getPage(number)
      const { items } = await page.getTextContent()
      const [, bottom = 0, , top = 0] = page.view
      pages.push({ lines: buildLines(items.filter((item) => 'str' in item) as TextItem[]), bottom, top })
      page.cleanup()
    } catch (error) {
      if ((error as Error).message.includes(DECOMPRESSION_LIMIT_MESSAGE)) throw new DocumentReadError(DECOMPRESSION_LIMIT_MESSAGE)
      // The other pages may still be readable.
      pages.push({ lines: [], bottom: 0, top: 0 })
      unreadable++
    }
  }
  return { pages, unreadable }
}

function describeUnrecognized(pages: Recognition['pages']): ParsedDocument {
  const problem = pages.find((page) => page.problem !== undefined)?.problem
  if (problem !== undefined) throw new DocumentReadError(problem)
  return createSkipped('No text was found in the images of the PDF.')
}

function describeMissingText(pages: number, unreadable: number, hints: Hints): ParsedDocument {
  if (unreadable === pages) throw new DocumentReadError('The PDF is damaged: none of its pages can be read.')
  if (unreadable > 0) throw new DocumentReadError('The PDF is damaged: the pages that can be read have no text.')
  if (hints.hasLegacyCharacterMaps)
    throw new DocumentReadError('The PDF uses a legacy Chinese, Japanese or Korean character map, which is not supported.')
  if (hints.hasImages) return createSkipped(`The PDF has no text; it seems to be a scan. ${RECOGNITION_OFF_MESSAGE}`)
  throw new DocumentReadError('The PDF has no text; its pages seem to be blank.')
}

interface Hints {
  hasImages: boolean
  hasLegacyCharacterMaps: boolean
}

/** Finds hints in the raw file: dictionaries of images are never compressed, those of fonts often are not. */
function inspectBytes(bytes: Uint8Array): Hints {
  const file = new TextDecoder('latin1').decode(bytes)
  return {
    hasImages: /\/Subtype\s{0,9}\/Image\b/.test(file),
    hasLegacyCharacterMaps: /\/Encoding\s{0,9}\/(?!Identity-)[A-Za-z0-9-]{1,30}-[HV]\b/.test(file),
  }
}

async function findTitle(pdf: Pdf, firstHeading: string | null): Promise<string | null> {
  try {
    const { info } = await pdf.getMetadata()
    const title = String((info as { Title?: unknown }).Title ?? '').trim()
    // PDF printers use the file name as the title.
    if (title !== '' && !/^(untitled|microsoft (word|powerpoint)|.*\.\w{2,5}$)/i.test(title)) return title.slice(0, 300)
  } catch {
    // Damaged metadata.
  }
  return firstHeading
}
