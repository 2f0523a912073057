/** Decodes text in a detected encoding: TextDecoder, plus UTF-32 and Windows-1252. */
import { decodeBytes } from '../../../core/decode-bytes.ts'
import { detectEncoding } from './detect-encoding.ts'

/** Without a copy. */
export const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export function decodeText(bytes: Uint8Array): string {
  const encoding = detectEncoding(bytes)
  if (encoding === 'utf-32le' || encoding === 'utf-32be') return decodeUtf32(bytes, encoding === 'utf-32le')
  return decodeBytes(bytes, encoding)
}

/** TextDecoder does not support UTF-32. */
function decodeUtf32(bytes: Uint8Array, isLittleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: string[] = []
  let points: number[] = []
  for (let offset = 0; offset + 4 <= bytes.length; offset += 4) {
    const point = view.getUint32(offset, isLittleEndian)
    points.push(point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? 0xfffd : point)
    if (points.length === 8_192) {
      parts.push(String.fromCodePoint(...points))
      points = []
    }
  }
  return parts.join('') + String.fromCodePoint(...points)
}
