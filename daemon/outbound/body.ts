/** Reading an answer's body: decompressed as it comes, and no further than the limit. */
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { CadreError } from '../../src/contract/errors.ts'

/** What is asked for; servers that compress otherwise are understood where that is possible. */
export const ACCEPTED_ENCODINGS = 'gzip, br'
/** One layer is what servers use; more is how small answers become large work. */
const MAX_ENCODINGS = 2

export async function readBody(
  stream: Readable,
  encoding: string | undefined,
  maxBytes: number,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of decompress(stream, encoding)) {
    const bytes = part as Uint8Array
    const room = maxBytes - length
    if (bytes.length > room) {
      // Leaving the loop destroys the stream, and with it the connection.
      parts.push(bytes.subarray(0, room))
      return { body: Buffer.concat(parts), truncated: true }
    }
    parts.push(bytes)
    length += bytes.length
  }
  return { body: Buffer.concat(parts, length), truncated: false }
}

function decompress(stream: Readable, encoding: string | undefined): Readable {
  const layers = (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim())
    .filter((layer) => layer !== '' && layer !== 'identity')
  if (layers.length > MAX_ENCODINGS) {
    discardBody(stream)
    throw new CadreError('PROVIDER_ERROR', `The answer is compressed ${layers.length} times over.`)
  }
  return layers.reverse().reduce((inner: Readable, layer) => {
    const decoder = createDecoder(layer)
    if (!decoder) {
      discardBody(stream)
      throw new CadreError('PROVIDER_ERROR', `The answer is compressed in a way Cadre does not know (${layer.slice(0, 40)}).`)
    }
    // An error of either end reaches whoever reads the decoder; there is nothing more to do about it here.
    return pipeline(inner, decoder, () => {})
  }, stream)
}

function createDecoder(layer: string): Transform | undefined {
  if (layer === 'gzip' || layer === 'x-gzip') return createGunzip()
  if (layer === 'br') return createBrotliDecompress()
  if (layer === 'deflate') return createInflate()
  return undefined
}

/** Leaves a body unread and its connection closed. */
export function discardBody(stream: Readable): void {
  // Destroying tells of the abort as an error, which is what we asked for.
  stream.on('error', () => {})
  stream.destroy()
}
