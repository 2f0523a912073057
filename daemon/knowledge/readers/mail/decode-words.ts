/** Decodes the headers and texts of mails: encoded words, parameters, transfer encodings and character sets. */
import { isUtf8 } from 'node:buffer'
import { decodeBytes, decodeWindows1252 } from '../../../core/decode-bytes.ts'
import { decodeText } from '../encoding/decode-text.ts'

const ENCODED_WORD = /=\?([^?\s*]{1,50})(?:\*[^?\s]{0,50})?\?([bBqQ])\?([^?]*)\?=/g
/** Labels that mails use for Windows-1252, of which ISO 8859-1 is a part. */
const WINDOWS_1252_LABELS = new Set(['iso-8859-1', 'latin1', 'windows-1252', 'cp1252'])

/** Decodes with the declared character set. If there is none or it is unknown, it is detected. */
export function decodeCharset(bytes: Uint8Array, label: string): string {
  const name = label.toLowerCase()
  if (name === '' || name === 'us-ascii' || name === 'ascii' || name === 'utf-8' || name === 'utf8') return decodeText(bytes)
  // Some programs declare the wrong one.
  if (WINDOWS_1252_LABELS.has(name)) return isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : decodeWindows1252(bytes)
  try {
    return decodeBytes(bytes, name)
  } catch {
    return decodeText(bytes) // an unknown character set
  }
}

/** Decodes words such as =?utf-8?Q?Gr=C3=BC=C3=9Fe?=. A character may be split between two words. */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text
  const output: string[] = []
  let pending: { charset: string; parts: Buffer[] } | undefined
  let end = 0
  const flush = () => {
    if (pending) output.push(decodeCharset(Buffer.concat(pending.parts), pending.charset))
    pending = undefined
  }
  for (const match of text.matchAll(ENCODED_WORD)) {
    const [word, charset = '', encoding = '', content = ''] = match
    const between = text.slice(end, match.index)
    end = match.index + word.length
    // Space between encoded words is not part of the text.
    if (pending === undefined || between.trim() !== '') {
      flush()
      output.push(between)
    } else if (pending.charset !== charset.toLowerCase()) flush()
    const bytes = /b/i.test(encoding) ? Buffer.from(content, 'base64') : decodeQuotedPrintable(Buffer.from(content.replaceAll('_', ' ')))
    pending ??= { charset: charset.toLowerCase(), parts: [] }
    pending.parts.push(bytes)
  }
  flush()
  return output.join('') + text.slice(end)
}

export function decodeQuotedPrintable(bytes: Uint8Array): Buffer {
  const output = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number
    if (byte !== 0x3d) {
      output[length++] = byte
      continue
    }
    const [first, second] = [readHexDigit(bytes[index + 1]), readHexDigit(bytes[index + 2])]
    if (first >= 0 && second >= 0) {
      output[length++] = first * 16 + second
      index += 2
    } else {
      // A soft line break.
      let next = index + 1
      while (bytes[next] === 0x20 || bytes[next] === 0x09) next++
      if (bytes[next] === 0x0d) next++
      if (bytes[next] === 0x0a) index = next
      else output[length++] = byte
    }
  }
  return output.subarray(0, length)
}

function readHexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

interface HeaderValue {
  /** In lower case. */
  value: string
  parameters: Map<string, string>
}

/** Parses a header such as `text/plain; charset=utf-8`, with names in parts and other character sets (RFC 2231). */
export function parseParameters(header: string): HeaderValue {
  const [value = ''] = header.split(';', 1)
  const parameters = new Map<string, string>()
  const parts = new Map<string, { text: string[]; isEncoded: boolean }>()
  for (const [, rawName = '', quoted, plain = ''] of header.matchAll(/;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g)) {
    const text = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain.trim()
    const [, name = rawName, isEncoded] = /^([^*]+)(?:\*\d+)?(\*)?$/.exec(rawName.toLowerCase()) ?? []
    if (rawName.includes('*')) {
      const part = parts.get(name) ?? { text: [], isEncoded: false }
      parts.set(name, { text: [...part.text.slice(-MAX_PARTS), text], isEncoded: part.isEncoded || isEncoded !== undefined })
    } else parameters.set(name, decodeWords(text))
  }
  for (const [name, { text, isEncoded }] of parts)
    parameters.set(name, isEncoded ? decodePercent(text.join('')) : decodeWords(text.join('')))
  return { value: value.trim().toLowerCase(), parameters }
}

/** Of one parameter; more than any name needs. */
const MAX_PARTS = 100

/** Decodes `utf-8''Gr%C3%BC%C3%9Fe.pdf`. */
function decodePercent(text: string): string {
  const [, charset = '', value = text] = /^([^']*)'[^']*'(.*)$/s.exec(text) ?? []
  const bytes = value.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
  return decodeCharset(Buffer.from(bytes, 'latin1'), charset)
}
