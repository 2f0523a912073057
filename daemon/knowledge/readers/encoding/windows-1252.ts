/** Windows-1252, the encoding that Western text has when it says Latin-1. Node 20's own decoder reads it as Latin-1 (nodejs/node#56542). */

const MARKS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

export function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return text.replaceAll(/[\u0080-\u009f]/g, windows1252Mark)
}

/** The character that Windows has where Latin-1 has a control character. */
export function windows1252Mark(character: string): string {
  return MARKS[character.charCodeAt(0) - 0x80] ?? character
}
