/** Frees the memory of objects that are no longer used, before work that needs much memory outside of the JavaScript heap. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** V8 does not count the memory of native code, and keeps unused buffers as long as little JavaScript runs. */
export function freeMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
