/** Keeps what is read from growing outside the heap: V8's own limit of a thread does not count the memory of byte arrays. */

const LARGE = 16 * 1024 * 1024
const MOST_AT_ONCE = 160 * 1024 * 1024
const MOST_OF_ALL_LARGE = 512 * 1024 * 1024

export const UNPACKS_TOO_FAR = 'The document unpacks to far more than its size allows, as a bomb does; it was not read.'

/**
 * From now on, byte arrays in this thread that are far larger than any document needs are refused. The PDF reader inflates streams into
 * arrays that double until all is in, and has no limit of its own. Answers how to start counting anew for the next document.
 */
export function limitAllocations(): () => void {
  let large = 0
  const guarded: Uint8ArrayConstructor = new Proxy(Uint8Array, {
    construct(target, parameters, made): Uint8Array {
      const [length] = parameters
      if (typeof length === 'number' && length >= LARGE) {
        large += length
        if (length > MOST_AT_ONCE || large > MOST_OF_ALL_LARGE) throw new RangeError(UNPACKS_TOO_FAR)
      }
      return Reflect.construct(target, parameters, made === guarded ? target : made)
    },
  })
  globalThis.Uint8Array = guarded
  return () => {
    large = 0
  }
}
