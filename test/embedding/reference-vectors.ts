/** Vectors that create-reference-vectors.ts has written. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const REFERENCE_FILE = fileURLToPath(new URL('reference-vectors.bin', import.meta.url))
/** The components are between -1 and 1. */
export const REFERENCE_SCALE = 32_767
const DIMENSIONS = 384

export function readReferenceVectors(): number[][] {
  const { buffer, byteOffset, byteLength } = readFileSync(REFERENCE_FILE)
  const values = new Int16Array(buffer.slice(byteOffset, byteOffset + byteLength))
  return Array.from({ length: values.length / DIMENSIONS }, (_, at) =>
    Array.from(values.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS), (value) => value / REFERENCE_SCALE),
  )
}
