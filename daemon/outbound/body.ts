/** Reads and decompresses a response body up to a size limit. */
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { CadreError } from '../../src/contract/errors.ts'

/** Sent as Accept-Encoding. */
export const ACCEPTED_ENCODINGS = 'gzip, br'
/** Servers use one encoding. Nested encodings could expand a small response enormously. */
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
      // Leaving the loop destroys the stream and its connection.
      parts.push(bytes.subarray(0, room))
      return { body: Buffer.concat(parts), truncated: true }
    }
    parts.push(bytes)
    length += bytes.length
  }
  return { body: Buffer.concat(parts, length), truncated: false }
}

export function decompress(stream: Readable, encoding: string | undefined): Readable {
  const layers = (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim())
    .filter((layer) => layer !== '' && layer !== 'identity')
  if (layers.length > MAX_ENCODINGS) {
    discardBody(stream)
    throw new CadreError('PROVIDER_ERROR', `The response is compressed ${layers.length} times.`)
  }
  return layers.reverse().reduce((inner: Readable, layer) => {
    const decoder = createDecoder(layer)
    if (!decoder) {
      discardBody(stream)
      throw new CadreError('PROVIDER_ERROR', `The response has an unsupported content encoding (${layer.slice(0, 40)}).`)
    }
    // Errors of either stream reach the reader of the decoder.
    return pipeline(inner, decoder, () => {})
  }, stream)
}

function createDecoder(layer: string): Transform | undefined {
  if (layer === 'gzip' || layer === 'x-gzip') return createGunzip()
  if (layer === 'br') return createBrotliDecompress()
  if (layer === 'deflate') return createInflate()
  return undefined
}

/** Discards an unread body and closes its connection. */
export function discardBody(stream: Readable): void {
  // destroy() emits the abort as an error.
  stream.on('error', () => {})
  stream.destroy()
}
