/** Finds out how a text is encoded and decodes it: byte order marks, declarations, then what its bytes look like. */
import { likeliestLegacy } from './legacy-encoding.ts'
import { decodeWindows1252 } from './windows-1252.ts'

const SAMPLE_BYTES = 64 * 1024

export interface DecodedText {
  text: string
  encoding: string
}

export function decodeText(bytes: Uint8Array): DecodedText {
  const encoding = marked(bytes) ?? wide(bytes) ?? unicode(bytes) ?? declared(bytes) ?? likeliestLegacy(bytes.subarray(0, SAMPLE_BYTES))
  return { text: decodeAs(bytes, encoding), encoding }
}

function decodeAs(bytes: Uint8Array, encoding: string): string {
  if (encoding === 'utf-32le' || encoding === 'utf-32be') return decodeUtf32(bytes, encoding === 'utf-32le')
  return encoding === 'windows-1252' ? decodeWindows1252(bytes) : new TextDecoder(encoding).decode(bytes)
}

function marked(bytes: Uint8Array): string | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 && bytes.length % 4 === 0 ? 'utf-32le' : 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return 'utf-32be'
  return undefined
}

/** Without a mark, the zeros of common characters give wide encodings away: always at the same place of a unit. */
function wide(bytes: Uint8Array): string | undefined {
  const length = Math.min(bytes.length, SAMPLE_BYTES) & ~3
  const zeros = [0, 0, 0, 0]
  for (let at = 0; at < length; at++) if (bytes[at] === 0) zeros[at & 3] = (zeros[at & 3] ?? 0) + 1
  const [first = 0, second = 0, third = 0, fourth = 0] = zeros
  if (first + second + third + fourth === 0) return undefined
  const units = length / 4
  if (bytes.length % 4 === 0 && third > units * 0.9 && fourth === units && first < units / 4) return 'utf-32le'
  if (bytes.length % 4 === 0 && first === units && second > units * 0.9 && fourth < units / 4) return 'utf-32be'
  const [even, odd] = [first + third, second + fourth]
  const rare = length / 200
  if (odd > rare && even <= odd / 10) return plausible(bytes, 'utf-16le')
  if (even > rare && odd <= even / 10) return plausible(bytes, 'utf-16be')
  return undefined
}

/** Binary data has zeros too; read as text it is full of control characters and halves of pairs. */
function plausible(bytes: Uint8Array, encoding: string): string | undefined {
  const text = decodeAs(bytes.subarray(0, SAMPLE_BYTES & ~1), encoding)
  const odd = text.match(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufffd\ufff0-\uffff\ue000-\uf8ff]/g)?.length ?? 0
  return odd <= text.length / 50 ? encoding : undefined
}

const DECLARATIONS = [
  /<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w:.-]{1,40})/i,
  /^\s{0,9}<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w:.-]{1,40})/i,
  /^@charset "([\w:.-]{1,40})"/,
  /^(?:#!.{0,200}\n)?#.{0,200}?coding[:=][ \t]{0,9}([\w:.-]{1,40})/,
]

/** A declaration is believed when the bytes agree; a page saved in another encoding often keeps its old one. */
function declared(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 2_048))
  for (const declaration of DECLARATIONS) {
    const label = declaration.exec(head)?.[1]
    if (label === undefined || /^utf-?(16|32)/i.test(label)) continue
    try {
      const decoder = new TextDecoder(label, { fatal: true })
      decoder.decode(bytes)
      return decoder.encoding
    } catch {
      // The label is unknown, or the bytes are not in that encoding: look at the bytes instead.
    }
  }
  return undefined
}

/** Bytes that are UTF-8 throughout are so by no accident, whatever the document declares. */
function unicode(bytes: Uint8Array): string | undefined {
  if (escapesJapanese(bytes)) return 'iso-2022-jp'
  const { multibyte, broken } = utf8Sequences(bytes)
  return broken === 0 || multibyte > broken * 10 ? 'utf-8' : undefined
}

function escapesJapanese(bytes: Uint8Array): boolean {
  const at = bytes.indexOf(0x1b)
  return at >= 0 && bytes[at + 1] === 0x24 && (bytes[at + 2] === 0x42 || bytes[at + 2] === 0x40)
}

/** How many characters beyond ASCII are whole UTF-8 sequences, and how many bytes are not; a sequence cut off at the end is neither. */
function utf8Sequences(bytes: Uint8Array): { multibyte: number; broken: number } {
  let multibyte = 0
  let broken = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number
    if (byte < 0x80) {
      at++
      continue
    }
    const rest = byte >= 0xc2 && byte <= 0xdf ? 1 : (byte & 0xf0) === 0xe0 ? 2 : byte >= 0xf0 && byte <= 0xf4 ? 3 : 0
    let followed = 0
    while (followed < rest && ((bytes[at + 1 + followed] ?? 0) & 0xc0) === 0x80) followed++
    if (rest > 0 && followed === rest) multibyte++
    else if (rest === 0 || at + 1 + followed < bytes.length) broken++
    at += 1 + followed
  }
  return { multibyte, broken }
}

/** TextDecoder has no UTF-32. */
function decodeUtf32(bytes: Uint8Array, little: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: string[] = []
  let units: number[] = []
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = view.getUint32(at, little)
    units.push(point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? 0xfffd : point)
    if (units.length === 8_192) {
      parts.push(String.fromCodePoint(...units))
      units = []
    }
  }
  return parts.join('') + String.fromCodePoint(...units)
}
