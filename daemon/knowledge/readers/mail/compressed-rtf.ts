/** Decompresses the RTF text of Outlook messages. */
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
