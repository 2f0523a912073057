/** Images and scans made to exhaust memory or time. */
import { readFileSync } from 'node:fs'
import { crc32, deflateSync } from 'node:zlib'

/** Types of pixels in PNG images. */
const GRAY = 0
const RGB = 2

const FIXTURES = new URL('../../test/knowledge/recognition/fixtures/', import.meta.url)

export function createHostileImages(): Record<string, Uint8Array> {
  return {
    'huge.png': createPng(60_000, 60_000, deflateSync(Buffer.alloc(1_000))),
    // Just within the limit of pixels.
    'large.png': createPng(8_000, 6_300, deflateSync(Buffer.alloc(6_300 * (1 + 3 * 8_000))), RGB),
    'more-than-its-size.png': createPng(100, 100, deflateSync(Buffer.alloc(64 * 1024 * 1024))),
    'narrow.png': createPng(24, 2_000_000, deflateSync(Buffer.alloc(25 * 2_000_000))),
    'frames.gif': Buffer.concat([
      readFixture('letter.gif').subarray(0, -1),
      ...Array.from({ length: 10_000 }, () => createFrame(1_000)),
      GIF_END,
    ]),
    'large-frame.gif': Buffer.concat([Buffer.from('474946383961e803e803800000000000ffffff', 'hex'), createFrame(60_000), GIF_END]),
    'cycle.tif': createTiff({ next: 8 }),
    'cycle-below.tif': createTiff({ entries: [[330, 4, 1, 8]] }),
    'many-values.tif': createTiff({ entries: [[270, 4, 0xffff_fff0, 8]] }),
    'deep-pixels.tif': createTiff({ entries: [[277, 3, 1, 0xffff]] }),
    'text.png': new TextEncoder().encode('Only text, with the extension of an image.'),
    'photo.pdf': readFixture('photo.jpg'),
    'jbig2.pdf': createScan('/JBIG2Decode', createJbig2Page(60_000, 60_000), 60_000),
    'jpx.pdf': createScan('/JPXDecode', createJpeg2000(60_000, 60_000), 60_000),
    'fax.pdf': createScan('/CCITTFaxDecode', Buffer.alloc(100_000), 60_000),
  }
}

const readFixture = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(name, FIXTURES)))

function createPng(width: number, height: number, data: Buffer, colorType = GRAY): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[9] = colorType
  const chunks = [createChunk('IHDR', header), createChunk('IDAT', data), createChunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks])
}

function createChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, checksum])
}

const GIF_END = Buffer.from(';')

/** A frame of a GIF with less data than its size needs. */
function createFrame(side: number): Buffer {
  const frame = Buffer.from('2c0000000000000000000202440100', 'hex')
  frame.writeUInt16LE(side, 5)
  frame.writeUInt16LE(side, 7)
  return frame
}

type TiffEntry = [tag: number, type: number, count: number, value: number]

/** An uncompressed TIFF of 64 × 64 gray pixels with further entries. */
function createTiff({ entries = [], next = 0 }: { entries?: TiffEntry[]; next?: number }): Uint8Array {
  const all: TiffEntry[] = [
    [256, 3, 1, 64],
    [257, 3, 1, 64],
    [258, 3, 1, 8],
    [259, 3, 1, 1],
    [262, 3, 1, 1],
    ...entries,
    [279, 4, 1, 4_096],
  ]
  const size = 8 + 2 + (all.length + 1) * 12 + 4
  all.push([273, 4, 1, size])
  const bytes = Buffer.alloc(size + 4_096)
  bytes.write('II*\0', 'latin1')
  bytes.writeUInt32LE(8, 4)
  bytes.writeUInt16LE(all.length, 8)
  for (const [index, [tag, type, count, value]] of all.entries()) {
    const at = 10 + index * 12
    bytes.writeUInt16LE(tag, at)
    bytes.writeUInt16LE(type, at + 2)
    bytes.writeUInt32LE(count, at + 4)
    bytes.writeUInt32LE(value, at + 8)
  }
  bytes.writeUInt32LE(next, size - 4)
  return bytes
}

/** A PDF page that shows one image. */
function createScan(filter: string, data: Buffer, side: number): Uint8Array {
  const content = 'q 500 0 0 500 0 0 cm /I Do Q'
  const image =
    `/Type /XObject /Subtype /Image /Width ${side} /Height ${side} /ColorSpace /DeviceGray /BitsPerComponent 1 ` +
    `/Filter ${filter} /DecodeParms << /K -1 /Columns ${side} /Rows ${side} >>`
  const objects = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from('<< /Type /Pages /Kids [3 0 R] /Count 1 >>'),
    Buffer.from('<< /Type /Page /Parent 2 0 R /MediaBox [0 0 500 500] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>'),
    Buffer.from(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`),
    Buffer.concat([Buffer.from(`<< ${image} /Length ${data.length} >>\nstream\n`), data, Buffer.from('\nendstream')]),
  ]
  const parts = objects.flatMap((object, index) => [Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')])
  // Readers find the objects without a table.
  return Buffer.concat([Buffer.from('%PDF-1.5\n'), ...parts, Buffer.from('trailer << /Root 1 0 R /Size 6 >>\n%%EOF\n')])
}

/** A page of JBIG2 without content. */
function createJbig2Page(width: number, height: number): Buffer {
  const page = Buffer.alloc(30)
  page[4] = 0x30
  page[6] = 1
  page.writeUInt32BE(19, 7)
  page.writeUInt32BE(width, 11)
  page.writeUInt32BE(height, 15)
  return page
}

/** The header of a JPEG 2000 codestream with one component and one tile. */
function createJpeg2000(width: number, height: number): Buffer {
  const size = Buffer.alloc(45)
  size.write('ff4fff510029', 'hex')
  for (const [index, value] of [width, height, 0, 0, width, height, 0, 0].entries()) size.writeUInt32BE(value, 8 + index * 4)
  size.writeUInt16BE(1, 40)
  size.set([7, 1, 1], 42)
  const coding = Buffer.from('ff52000c00000001000504040001ff5c001040404848504848504848504848504848', 'hex')
  const tile = Buffer.from('ff90000a0000000000000001ff93', 'hex')
  return Buffer.concat([size, coding, tile, Buffer.alloc(1_000)])
}
