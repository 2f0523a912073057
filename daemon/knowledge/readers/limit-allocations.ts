/** Limits the memory of byte arrays in a process; V8's heap limit does not count it. */

const MIN_COUNTED_BYTES = 16 * 1024 * 1024
const MAX_ALLOCATION_BYTES = 64 * 1024 * 1024
const MAX_TOTAL_BYTES = 256 * 1024 * 1024

export const DECOMPRESSION_LIMIT_MESSAGE = 'The document decompresses to far more than its size allows, like a decompression bomb.'

/**
 * Makes this process reject byte arrays that are far larger than any document needs. The PDF library inflates streams into arrays that
 * double in size and has no limit of its own. Returns a function that resets the count for the next document.
 */
export function limitAllocations(): () => void {
  let total = 0
  const guarded: Uint8ArrayConstructor = new Proxy(Uint8Array, {
    construct(target, parameters, newTarget): Uint8Array {
      const [length] = parameters
      if (typeof length === 'number' && length >= MIN_COUNTED_BYTES) {
        total += length
        if (length > MAX_ALLOCATION_BYTES || total > MAX_TOTAL_BYTES) throw new RangeError(DECOMPRESSION_LIMIT_MESSAGE)
      }
      return Reflect.construct(target, parameters, newTarget === guarded ? target : newTarget)
    },
  })
  globalThis.Uint8Array = guarded
  return () => {
    total = 0
  }
}
