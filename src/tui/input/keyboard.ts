/** Reads keys from a terminal in raw mode and restores its mode afterwards. */
import { type Deadline, startDeadline } from '../../deadline.ts'
import type { Key, KeyDecoder } from './key-decoder.ts'

/** Bracketed paste and the kitty keyboard protocol; other terminals ignore them. */
const ENABLE_SEQUENCES = '\u001b[?2004h\u001b[>1u'
const DISABLE_SEQUENCES = '\u001b[<u\u001b[?2004l'
/** Escape starts every sequence; after this time without further bytes it is the key itself. */
const ESCAPE_TIMEOUT_MS = 30

/**
 * Returns a function that stops listening and returns the keys that were not complete, such as Escape.
 * @param decoder keeps the beginning of a paste if the process is stopped and continued before its end arrives.
 */
export function listenToKeyboard(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  decoder: KeyDecoder,
  onKey: (key: Key) => void,
): () => Key[] {
  let sequence: Deadline | undefined
  let isTypedAhead = true
  const onData = (chunk: string) => {
    sequence?.cancel()
    // Before raw mode, the terminal converts Enter to a line feed.
    for (const key of decoder.push(isTypedAhead ? chunk.replaceAll('\n', '\r') : chunk)) onKey(key)
    sequence = decoder.hasPending ? startDeadline(ESCAPE_TIMEOUT_MS, () => setImmediate(flush, sequence)) : undefined
  }
  /** Runs after what has arrived was read: on a slow machine, the rest of a sequence may wait while the time passes. */
  const flush = (deadline: Deadline | undefined) => {
    if (deadline === sequence) decoder.flush().forEach(onKey)
  }
  input.setEncoding('utf8')
  input.setRawMode?.(true)
  input.on('data', onData)
  input.resume()
  // What was typed before is read in the next turn of the event loop, before its second immediate.
  setImmediate(() =>
    setImmediate(() => {
      isTypedAhead = false
    }),
  )
  output.write(ENABLE_SEQUENCES)
  const restore = () => {
    output.write(DISABLE_SEQUENCES)
    input.setRawMode?.(false)
  }
  process.once('exit', restore)
  return () => {
    sequence?.cancel()
    sequence = undefined
    process.off('exit', restore)
    input.off('data', onData)
    input.pause()
    restore()
    // Otherwise a pending Escape would change the first key after the next start.
    return decoder.flush()
  }
}
