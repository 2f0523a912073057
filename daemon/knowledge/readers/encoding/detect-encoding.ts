/** Detects the encoding of a text: by byte order mark, by validity as Unicode, by declaration, then by byte statistics. */
import { isUtf8 } from 'node:buffer'
import { detectLegacyEncoding } from './detect-legacy-encoding.ts'

const SAMPLE_BYTES = 64 * 1024

export function detectEncoding(bytes: Uint8Array): string {
  const encoding = detectByteOrderMark(bytes) ?? detectWideEncoding(bytes)
  if (encoding !== undefined) return encoding
  if (hasJapaneseEscape(bytes)) return 'iso-2022-jp'
  // Text that is valid UTF-8 is almost never in another encoding, whatever it declares.
  if (isMostlyUtf8(bytes)) return 'utf-8'
  return parseDeclaredEncoding(bytes) ?? detectLegacyEncoding(bytes.subarray(0, SAMPLE_BYTES))
}

function detectByteOrderMark(bytes: Uint8Array): string | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 && bytes.length % 4 === 0 ? 'utf-32le' : 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return 'utf-32be'
  return undefined
}

/** Detects UTF-16 and UTF-32 without a byte order mark: their zero bytes are always at the same position of a unit. */
function detectWideEncoding(bytes: Uint8Array): string | undefined {
  const length = Math.min(bytes.length, SAMPLE_BYTES) & ~3
  const zeros = [0, 0, 0, 0]
  for (let index = 0; index < length; index++) if (bytes[index] === 0) zeros[index & 3] = (zeros[index & 3] ?? 0) + 1
  const [first = 0, second = 0, third = 0, fourth = 0] = zeros
  if (first + second + third + fourth === 0) return undefined
  const units = length / 4
  if (bytes.length % 4 === 0 && third > units * 0.9 && fourth === units && first < units / 4) return 'utf-32le'
  if (bytes.length % 4 === 0 && first === units && second > units * 0.9 && fourth < units / 4) return 'utf-32be'
  const [even, odd] = [first + third, second + fourth]
  const minimum = length / 200
  if (odd > minimum && even <= odd / 10 && isPlausible(bytes, 'utf-16le')) return 'utf-16le'
  return even > minimum && odd <= even / 10 && isPlausible(bytes, 'utf-16be') ? 'utf-16be' : undefined
}

/** Binary data also contains zeros, but decodes to control characters and lone surrogates. */
function isPlausible(bytes: Uint8Array, encoding: string): boolean {
  const text = new TextDecoder(encoding).decode(bytes.subarray(0, SAMPLE_BYTES))
  const invalid = text.match(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufffd\ufff0-\uffff\ue000-\uf8ff]/g)?.length ?? 0
  return invalid <= text.length / 50
}

const DECLARATIONS = [
  /<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w:.-]{1,40})/i,
  /^\s{0,9}<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w:.-]{1,40})/i,
  /^@charset "([\w:.-]{1,40})"/,
  /^(?:#!.{0,200}\n)?#.{0,200}?coding[:=][ \t]{0,9}([\w:.-]{1,40})/,
]

/** Accepts a declaration only if the bytes are valid in it: pages saved in another encoding often keep the old declaration. */
function parseDeclaredEncoding(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 2_048))
  for (const declaration of DECLARATIONS) {
    const label = declaration.exec(head)?.[1]
    if (label === undefined || /^utf-?(16|32)/i.test(label)) continue
    try {
      const decoder = new TextDecoder(label, { fatal: true })
      decoder.decode(bytes)
      return decoder.encoding
    } catch {
      // Unknown label, or the bytes are invalid in this encoding.
    }
  }
  return undefined
}

function hasJapaneseEscape(bytes: Uint8Array): boolean {
  const index = bytes.indexOf(0x1b)
  return index >= 0 && bytes[index + 1] === 0x24 && (bytes[index + 2] === 0x42 || bytes[index + 2] === 0x40)
}

/** Tolerates a truncated last character and a few invalid bytes. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  if (isUtf8(bytes)) return true
  // `stream` leaves out an incomplete character at the end.
  const text = new TextDecoder().decode(bytes, { stream: true })
  let [valid, invalid] = [0, 0]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0xfffd) invalid++
    else if (code > 0x7f) valid++
  }
  return invalid === 0 || valid > invalid * 10
}
