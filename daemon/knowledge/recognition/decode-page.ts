/** Decodes a page of an image or renders a page of a PDF file, as gray pixels. */
import { readFileSync } from 'node:fs'
import { PDFiumLibrary } from '@hyzyla/pdfium'
import { detectImageFormat, type ImageSummary, inspectImage, requirePixelLimit } from '../readers/inspect-image.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import { decodeTiff } from './decode-tiff.ts'
import { type GrayImage, MAX_SIDE, orientImage, shrinkImage } from './gray-image.ts'
import { keepFirstFrame } from './keep-first-frame.ts'
import type { Tesseract } from './tesseract.ts'

/** Decodes pages of one document. */
interface PageDecoder {
  isPhoto: boolean
  decode(page: number): Promise<GrayImage>
  close(): void
}

/** Pages of a PDF file are rendered with about 180 dots per inch: an A4 page. */
export const MAX_PAGE_PIXELS = 3_200_000

export async function openDocument(bytes: Uint8Array, tesseract: Tesseract, pdfiumFile: string): Promise<PageDecoder> {
  const format = detectImageFormat(bytes)
  return format ? openImage(bytes, inspectImage(bytes, format), tesseract) : openPdf(bytes, pdfiumFile)
}

function openImage(bytes: Uint8Array, summary: ImageSummary, tesseract: Tesseract): PageDecoder {
  return {
    isPhoto: true,
    async decode(page) {
      const image = decodeImage(bytes, page, summary, tesseract)
      if (!image) throw new DocumentReadError(`The ${summary.format} image is damaged.`)
      return image
    },
    close: () => {},
  }
}

function decodeImage(bytes: Uint8Array, page: number, { format, orientation }: ImageSummary, tesseract: Tesseract): GrayImage | undefined {
  if (format === 'TIFF') return decodeTiff(bytes, page)
  if (format !== 'GIF') return orient(tesseract.decode(bytes), orientation)
  const frame = keepFirstFrame(bytes)
  // The size of a frame may differ from that of the image.
  if (frame) requirePixelLimit(frame.width, frame.height)
  return frame && tesseract.decode(frame.bytes)
}

/** The image is shrunk first, because turning it needs memory for a copy. */
const orient = (image: GrayImage | undefined, orientation: number) => image && orientImage(shrinkImage(image, MAX_PAGE_PIXELS), orientation)

/** The library is loaded for each document: it never closes pages, and a hostile document cannot affect the next one. */
async function openPdf(bytes: Uint8Array, pdfiumFile: string): Promise<PageDecoder> {
  const { buffer } = new Uint8Array(readFileSync(pdfiumFile))
  const library = await PDFiumLibrary.init({ wasmBinary: buffer })
  const document = await library.loadDocument(bytes)
  return {
    isPhoto: false,
    async decode(number) {
      const page = document.getPage(number - 1)
      const { originalWidth, originalHeight } = page.getOriginalSize()
      if (!(originalWidth >= 1 && originalHeight >= 1)) throw new DocumentReadError('The page has no size.')
      const longest = Math.max(originalWidth, originalHeight)
      const scale = Math.min(Math.sqrt(MAX_PAGE_PIXELS / (originalWidth * originalHeight)), MAX_SIDE / longest)
      const { width, height, data } = await page.render({ scale, colorSpace: 'Gray', render: 'bitmap' })
      return { width, height, pixels: data }
    },
    close() {
      document.destroy()
      library.destroy()
    },
  }
}
