/** Decodes text in a detected encoding: TextDecoder, plus UTF-32 and Windows-1252. */
import { detectEncoding } from './detect-encoding.ts'

/** Without a copy. */
export const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export function decodeText(bytes: Uint8Array): string {
  const encoding = detectEncoding(bytes)
  if (encoding === 'utf-32le' || encoding === 'utf-32be') return decodeUtf32(bytes, encoding === 'utf-32le')
  return decodeBytes(bytes, encoding)
}

/** Decodes with a name of TextDecoder, in lower case. */
export const decodeBytes = (bytes: Uint8Array, encoding: string): string =>
  encoding === 'windows-1252' ? decodeWindows1252(bytes) : new TextDecoder(encoding).decode(bytes)

/** Characters that Windows-1252 has in place of the control characters 0x80 to 0x9f of Latin-1. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** TextDecoder of Node 20 decodes Windows-1252 as Latin-1 (nodejs/node#56542). */
export function decodeWindows1252(bytes: Uint8Array): string {
  const text = toBuffer(bytes).toString('latin1')
  return text.replaceAll(/[\u0080-\u009f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character)
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
