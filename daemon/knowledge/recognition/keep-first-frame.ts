/** Cuts an animated GIF after its first frame: the decoder would keep all of them in memory. */

const EXTENSION = 0x21
const IMAGE = 0x2c
const TRAILER = 0x3b

interface FirstFrame {
  bytes: Uint8Array
  width: number
  height: number
}

/** Returns undefined if the image is damaged. */
export function keepFirstFrame(bytes: Uint8Array): FirstFrame | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    let offset = 13 + getPaletteBytes(view.getUint8(10))
    while (view.getUint8(offset) === EXTENSION) offset = skipBlocks(view, offset + 2)
    if (view.getUint8(offset) !== IMAGE) return undefined
    const [width, height] = [view.getUint16(offset + 5, true), view.getUint16(offset + 7, true)]
    const end = skipBlocks(view, offset + 11 + getPaletteBytes(view.getUint8(offset + 9)))
    const cut = new Uint8Array(end + 1)
    cut.set(bytes.subarray(0, end))
    cut[end] = TRAILER
    return { bytes: cut, width, height }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const getPaletteBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

/** Returns the offset after a sequence of blocks, which ends with an empty one. */
function skipBlocks(view: DataView, start: number): number {
  let offset = start
  for (let length = view.getUint8(offset); length > 0; length = view.getUint8(offset)) offset += 1 + length
  return offset + 1
}
