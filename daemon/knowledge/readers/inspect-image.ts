/** Reads the size and the number of pages of an image from its header, without decoding it. */
import { DocumentReadError } from './parsed-document.ts'

export type ImageFormat = 'PNG' | 'JPEG' | 'GIF' | 'WebP' | 'TIFF'

export interface ImageSummary {
  format: ImageFormat
  width: number
  height: number
  /** Offset of each page of a TIFF file; one for other images. */
  pages: number
  /** How the camera was held: 1 to 8, as in EXIF. */
  orientation: number
}

/** The largest photos of common phones have 8,192 × 6,144. */
const MAX_PIXELS = 51_000_000
const MAX_PAGES = 2_000

export function detectImageFormat(bytes: Uint8Array): ImageFormat | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16))
  const hex = head.toString('hex')
  if (hex.startsWith('89504e470d0a1a0a')) return 'PNG'
  if (hex.startsWith('ffd8ff')) return 'JPEG'
  if (/^GIF8[79]a/.test(head.toString('latin1'))) return 'GIF'
  if (hex.startsWith('49492a00') || hex.startsWith('4d4d002a')) return 'TIFF'
  return /^RIFF....WEBP/s.test(head.toString('latin1')) ? 'WebP' : undefined
}

/** Throws DocumentReadError if the image is damaged or too large. */
export function inspectImage(bytes: Uint8Array, format: ImageFormat): ImageSummary {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let summary: Omit<ImageSummary, 'format'>
  try {
    summary = READERS[format](view)
  } catch (error) {
    if (error instanceof RangeError) throw new DocumentReadError(`The ${format} image is damaged: it ends early.`)
    throw error
  }
  const { width, height, pages } = summary
  requirePixelLimit(width, height)
  if (pages > MAX_PAGES) throw new DocumentReadError(`The image has more than ${MAX_PAGES} pages.`)
  return { format, ...summary }
}

export function requirePixelLimit(width: number, height: number): void {
  if (width * height > MAX_PIXELS)
    throw new DocumentReadError(`The image has ${width} × ${height} pixels; the maximum is ${MAX_PIXELS / 1_000_000} million.`)
}

const READERS: Record<ImageFormat, (view: DataView) => Omit<ImageSummary, 'format'>> = {
  PNG: (view) => ({ width: view.getUint32(16), height: view.getUint32(20), pages: 1, orientation: 1 }),
  GIF: (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true), pages: 1, orientation: 1 }),
  WebP: readWebp,
  JPEG: readJpeg,
  TIFF: readTiff,
}

function readWebp(view: DataView): Omit<ImageSummary, 'format'> {
  const read24 = (offset: number) => view.getUint16(offset, true) | (view.getUint8(offset + 2) << 16)
  const one = { pages: 1, orientation: 1 }
  const kind = String.fromCharCode(view.getUint8(12), view.getUint8(13), view.getUint8(14), view.getUint8(15))
  if (kind === 'VP8X') return { width: read24(24) + 1, height: read24(27) + 1, ...one }
  if (kind === 'VP8L') {
    const bits = view.getUint32(21, true)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, ...one }
  }
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff, ...one }
}

/** Reads segments up to the one with the size. */
function readJpeg(view: DataView): Omit<ImageSummary, 'format'> {
  let orientation = 1
  for (let offset = 2; ; ) {
    if (view.getUint8(offset) !== 0xff) throw new DocumentReadError('The JPEG image is damaged: its size cannot be read.')
    const marker = view.getUint8(offset + 1)
    // Fill bytes.
    if (marker === 0xff) {
      offset++
      continue
    }
    const length = view.getUint16(offset + 2)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: view.getUint16(offset + 7), height: view.getUint16(offset + 5), pages: 1, orientation }
    if (marker === 0xe1) orientation = readExifOrientation(view, offset + 4, length - 2) ?? orientation
    offset += 2 + Math.max(length, 2)
  }
}

const EXIF = 0x45786966
const ORIENTATION_TAG = 0x0112

/** Damaged EXIF data is ignored. */
function readExifOrientation(view: DataView, offset: number, length: number): number | undefined {
  if (length < 14 || offset + length > view.byteLength || view.getUint32(offset) !== EXIF) return undefined
  const tiff = new DataView(view.buffer, view.byteOffset + offset + 6, length - 6)
  try {
    const isLittle = tiff.getUint16(0) === 0x4949
    const value = readTags(tiff, tiff.getUint32(4, isLittle), isLittle).get(ORIENTATION_TAG)
    return value !== undefined && value >= 1 && value <= 8 ? value : undefined
  } catch {
    return undefined
  }
}

const MAX_TAGS = 1_000

/** Returns the numbers of an image file directory. Others are references, which are not followed. */
function readTags(view: DataView, offset: number, isLittle: boolean): Map<number, number> {
  const tags = new Map<number, number>()
  const count = Math.min(view.getUint16(offset, isLittle), MAX_TAGS)
  for (let index = 0; index < count; index++) {
    const entry = offset + 2 + index * 12
    const isShort = view.getUint16(entry + 2, isLittle) === 3
    tags.set(view.getUint16(entry, isLittle), isShort ? view.getUint16(entry + 8, isLittle) : view.getUint32(entry + 8, isLittle))
  }
  return tags
}

/** The size is that of the largest page. */
function readTiff(view: DataView): Omit<ImageSummary, 'format'> {
  const isLittle = view.getUint16(0) === 0x4949
  const directories = listTiffDirectories(view)
  let [width, height] = [0, 0]
  for (const offset of directories) {
    const tags = readTags(view, offset, isLittle)
    const [pageWidth, pageHeight] = [tags.get(256) ?? 0, tags.get(257) ?? 0]
    if (pageWidth * pageHeight > width * height) [width, height] = [pageWidth, pageHeight]
  }
  return { width, height, pages: directories.length, orientation: 1 }
}

/** Lists the offsets of the pages. A page that refers to an earlier one is the last. */
export function listTiffDirectories(view: DataView): number[] {
  const isLittle = view.getUint16(0) === 0x4949
  const seen = new Set<number>()
  for (let offset = view.getUint32(4, isLittle); offset !== 0 && !seen.has(offset) && seen.size <= MAX_PAGES; ) {
    seen.add(offset)
    offset = view.getUint32(offset + 2 + view.getUint16(offset, isLittle) * 12, isLittle)
  }
  return [...seen]
}
