/** Keeps what is read from growing outside the heap: V8's own limit of a thread does not count the memory of byte arrays. */

const MIN_COUNTED_BYTES = 16 * 1024 * 1024
const MAX_ALLOCATION_BYTES = 160 * 1024 * 1024
const MAX_TOTAL_BYTES = 512 * 1024 * 1024

export const DECOMPRESSION_LIMIT_MESSAGE = 'The document unpacks to far more than its size allows, as a bomb does; it was not read.'

/**
 * From now on, byte arrays in this thread that are far larger than any document needs are refused. The PDF reader inflates streams into
 * arrays that double until all is in, and has no limit of its own. Answers how to start counting anew for the next document.
 */
export function limitAllocations(): () => void {
  let large = 0
  const guarded: Uint8ArrayConstructor = new Proxy(Uint8Array, {
    construct(target, parameters, made): Uint8Array {
      const [length] = parameters
      if (typeof length === 'number' && length >= MIN_COUNTED_BYTES) {
        large += length
        if (length > MAX_ALLOCATION_BYTES || large > MAX_TOTAL_BYTES) throw new RangeError(DECOMPRESSION_LIMIT_MESSAGE)
      }
      return Reflect.construct(target, parameters, made === guarded ? target : made)
    },
  })
  globalThis.Uint8Array = guarded
  return () => {
    large = 0
  }
}
