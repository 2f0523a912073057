/** Reads the text of a Word 97-2003 document, which is stored in pieces, each with one or two bytes per character. */
import { decodeWindows1252 } from '../../../core/decode-bytes.ts'
import { DocumentReadError } from '../parsed-document.ts'

interface Piece {
  /** Positions of its characters in the document. */
  start: number
  end: number
  /** Place of the first character in the main stream. */
  offset: number
  bytesPerCharacter: 1 | 2
}

export interface DocText {
  length: number
  getCode(position: number): number
  /** Returns the place of a character in the main stream. */
  getOffset(position: number): number
  slice(start: number, end: number): string
}

const MAX_CHARACTERS = 50_000_000

export function readPieces(main: Buffer, table: Buffer): DocText {
  const pieces = listPieces(table).filter(({ start, end, offset, bytesPerCharacter }) => {
    return end > start && offset + (end - start) * bytesPerCharacter <= main.length
  })
  const length = pieces.at(-1)?.end ?? 0
  if (length === 0) throw new DocumentReadError('The Word document is damaged: its text cannot be found.')
  if (length > MAX_CHARACTERS) throw new DocumentReadError(`The document has ${length} characters; the maximum is ${MAX_CHARACTERS}.`)
  const parts: string[] = []
  let next = 0
  for (const { start, end, offset, bytesPerCharacter } of pieces) {
    parts.push('\0'.repeat(Math.max(0, start - next)))
    const bytes = main.subarray(offset, offset + (end - start) * bytesPerCharacter)
    parts.push(bytesPerCharacter === 2 ? bytes.toString('utf16le') : decodeWindows1252(bytes))
    next = end
  }
  const text = parts.join('')
  let piece = 0
  return {
    length: text.length,
    getCode: (position) => text.charCodeAt(position),
    slice: (start, end) => text.slice(start, end),
    getOffset(position) {
      // Positions are mostly asked for in order.
      if (position < (pieces[piece]?.start ?? 0)) piece = 0
      while (piece < pieces.length - 1 && position >= (pieces[piece] as Piece).end) piece++
      const { start, offset, bytesPerCharacter } = pieces[piece] as Piece
      return offset + (position - start) * bytesPerCharacter
    },
  }
}

function listPieces(table: Buffer): Piece[] {
  let offset = 0
  // Formatting of pieces precedes their table.
  while (offset + 3 <= table.length && table.readUInt8(offset) === 1) offset += 3 + table.readUInt16LE(offset + 1)
  if (offset + 5 > table.length || table.readUInt8(offset) !== 2) return []
  const length = Math.min(table.readUInt32LE(offset + 1), table.length - offset - 5)
  const plc = table.subarray(offset + 5, offset + 5 + length)
  const count = Math.max(0, Math.floor((plc.length - 4) / 12))
  const pieces: Piece[] = []
  let previousEnd = 0
  for (let index = 0; index < count; index++) {
    const [start, end] = [plc.readUInt32LE(index * 4), plc.readUInt32LE(index * 4 + 4)]
    const place = plc.readUInt32LE((count + 1) * 4 + index * 8 + 2)
    const isCompressed = (place & 0x40000000) !== 0
    const position = place & 0x3fffffff
    // Pieces that overlap would make a small file as large as their number allows.
    if (start < previousEnd) return pieces
    previousEnd = end
    pieces.push({ start, end, offset: isCompressed ? position / 2 : position, bytesPerCharacter: isCompressed ? 1 : 2 })
  }
  return pieces
}
