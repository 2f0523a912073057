/** Decodes a page of a TIFF file, which Tesseract's build cannot read. */
import utif from 'utif2'
import { listTiffDirectories } from '../readers/inspect-image.ts'
import type { GrayImage } from './gray-image.ts'
import { computeGray } from './tesseract.ts'

/** Tags that describe pixels. Others may refer to further directories, also to themselves, and the decoder would follow them. */
const PIXEL_TAGS = new Set([
  254, 255, 256, 257, 258, 259, 262, 266, 273, 274, 277, 278, 279, 282, 283, 284, 292, 293, 317, 320, 322, 323, 324, 325, 338, 339, 347,
  512, 513, 514, 515, 519, 520, 521, 530, 531, 532,
])
const IGNORED_TAG = 65_000
const BYTE_TYPE = 1
const ENTRY_BYTES = 12

/** Returns undefined if the page is damaged or missing. */
export function decodeTiff(bytes: Uint8Array, page: number): GrayImage | undefined {
  const isolated = isolatePage(bytes, page)
  const image = isolated && utif.decode(isolated)[0]
  if (!image) return undefined
  utif.decodeImage(isolated, image)
  dropExtraSamples(image)
  const colors = utif.toRGBA8(image)
  const { width, height } = image
  if (!width || !height || colors.length < width * height * 4) return undefined
  const pixels = new Uint8Array(width * height)
  for (let index = 0; index < pixels.length; index++)
    pixels[index] = computeGray(colors[index * 4] as number, colors[index * 4 + 1] as number, colors[index * 4 + 2] as number)
  return { width, height, pixels }
}

/** utif2 4.1.0 reads the transparency of gray pixels as further pixels, for example in TIFF files of ImageMagick. */
function dropExtraSamples(image: object): void {
  const fields = image as Record<string, number[]> & { data: Uint8Array }
  const [photometric, bits, samples = 1, planes] = [262, 258, 277, 284].map((tag) => fields[`t${tag}`]?.[0])
  const isGray = photometric === 0 || photometric === 1
  if (!isGray || samples < 2 || (bits !== 8 && bits !== 16) || planes === 2) return
  const [size, step] = [bits / 8, (bits / 8) * samples]
  const data = new Uint8Array(Math.floor(fields.data.length / step) * size)
  for (let from = 0, to = 0; to < data.length; from += step, to += size)
    for (let byte = 0; byte < size; byte++) data[to + byte] = fields.data[from + byte] as number
  Object.assign(fields, { data, t277: [1], t258: [bits] })
}

/** Returns a copy of the file that has only one page and no further directories. */
function isolatePage(bytes: Uint8Array, page: number): Uint8Array | undefined {
  const copy = new Uint8Array(bytes)
  const view = new DataView(copy.buffer)
  const isLittle = view.getUint16(0) === 0x4949
  const directory = listTiffDirectories(view)[page - 1]
  if (directory === undefined) return undefined
  const count = view.getUint16(directory, isLittle)
  const end = directory + 2 + count * ENTRY_BYTES
  if (end + 4 > copy.length) return undefined
  for (let entry = directory + 2; entry < end; entry += ENTRY_BYTES) {
    const isUseful = PIXEL_TAGS.has(view.getUint16(entry, isLittle)) && view.getUint32(entry + 4, isLittle) <= copy.length
    if (isUseful) continue
    view.setUint16(entry, IGNORED_TAG, isLittle)
    view.setUint16(entry + 2, BYTE_TYPE, isLittle)
    view.setUint32(entry + 4, 0, isLittle)
  }
  view.setUint32(4, directory, isLittle)
  view.setUint32(end, 0, isLittle)
  return copy
}
