/** Decompresses the RTF text of Outlook messages and removes its format. */
import { decodeWindows1252 } from '../encoding/decode-text.ts'
import { DocumentReadError } from '../parsed-document.ts'

/** What every dictionary starts with, as the format defines it. */
const DICTIONARY =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArial' +
  'Times New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'
const WINDOW = 4_096
const COMPRESSED = 0x75465a4c
const UNCOMPRESSED = 0x414c454d
const MAX_BYTES = 50 * 1024 * 1024

export function decompressRtf(packed: Buffer): Buffer {
  if (packed.length < 16) throw createDamageError()
  const size = packed.readUInt32LE(4)
  const kind = packed.readUInt32LE(8)
  if (kind === UNCOMPRESSED) return packed.subarray(16)
  if (kind !== COMPRESSED || size > MAX_BYTES) throw createDamageError()
  const window = Buffer.alloc(WINDOW)
  let write = window.write(DICTIONARY, 'latin1')
  const output = Buffer.alloc(size)
  let length = 0
  const emit = (byte: number) => {
    if (length < size) output[length++] = byte
    window[write] = byte
    write = (write + 1) % WINDOW
  }
  for (let offset = 16; offset < packed.length && length < size; ) {
    const flags = packed[offset++] as number
    for (let bit = 0; bit < 8 && offset < packed.length && length < size; bit++) {
      if ((flags & (1 << bit)) === 0) {
        emit(packed[offset++] as number)
        continue
      }
      if (offset + 2 > packed.length) return output.subarray(0, length)
      const reference = packed.readUInt16BE(offset)
      offset += 2
      const from = reference >> 4
      // A reference to the end of the text ends it.
      if (from === write) return output.subarray(0, length)
      for (let index = 0; index < (reference & 15) + 2; index++) emit(window[(from + index) % WINDOW] as number)
    }
  }
  return output.subarray(0, length)
}

const createDamageError = () => new DocumentReadError('The message is damaged: its text cannot be decompressed.')

/** Groups with settings or with pictures. */
const IGNORED_GROUP = /^\\(?:\*|fonttbl|colortbl|stylesheet|info|pict|header|footer|object|htmltag|mhtmltag)/
const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\(.)|([{}])|[\r\n]+|[^\\{}\r\n]+/gis

/** Returns the text of an RTF document. Outlook wraps HTML in RTF as well; then this is the text of the page. */
export function readRtfText(rtf: Buffer): string {
  const source = rtf.toString('latin1')
  const output: string[] = []
  let depth = 0
  let ignoredFrom = 0
  let isHidden = false
  /** Whether the next character only stands for one that older programs cannot show. */
  let isSubstitute = false
  for (const match of source.matchAll(TOKEN)) {
    const [token, word = '', value = '', hex, symbol, brace] = match
    if (brace === '{') {
      depth++
      const next = source.slice(match.index + 1, match.index + 20)
      if (ignoredFrom === 0 && IGNORED_GROUP.test(next)) ignoredFrom = depth
    } else if (brace === '}') {
      if (depth === ignoredFrom) ignoredFrom = 0
      depth--
    } else if (word === 'htmlrtf') isHidden = value !== '0'
    else if (ignoredFrom > 0 || isHidden) continue
    else if (word === 'par' || word === 'line' || word === 'row') output.push('\n')
    else if (word === 'tab' || word === 'cell') output.push('\t')
    else if (word === 'u' && value !== '') {
      output.push(String.fromCharCode((Number(value) + 65_536) % 65_536))
      isSubstitute = true
    } else if (hex !== undefined) {
      if (!isSubstitute) output.push(decodeByte(hex))
      isSubstitute = false
    } else if (symbol !== undefined) output.push(symbol === '~' ? ' ' : /[\\{}]/.test(symbol) ? symbol : '')
    else if (!token.startsWith('\\') && !/^[\r\n]/.test(token)) {
      output.push(isSubstitute ? token.slice(1) : token)
      isSubstitute = false
    }
  }
  return output.join('').trim()
}

const decodeByte = (hex: string): string => decodeWindows1252(Buffer.from(hex, 'hex'))
