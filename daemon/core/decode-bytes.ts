/** Decodes text with a declared or detected character set. */

/**
 * Decodes with a label of TextDecoder, and throws a RangeError for others. TextDecoder of Node 20 decodes Windows-1252 as Latin-1
 * (nodejs/node#56542).
 */
export function decodeBytes(bytes: Uint8Array, label: string): string {
  const decoder = new TextDecoder(label)
  return decoder.encoding === 'windows-1252' ? decodeWindows1252(bytes) : decoder.decode(bytes)
}

/** Characters that Windows-1252 has in place of the control characters 0x80 to 0x9f of Latin-1. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

export function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return text.replaceAll(/[\u0080-\u009f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character)
}
