/** The keyboard of a terminal in raw mode: keys as they are pressed, pastes whole, and everything as it was afterwards. */
import { type Key, KeyDecoder } from './key-decoder.ts'

/** Pastes in brackets, and keys told apart that older terminals send alike; those that know neither ignore it. */
const ENABLE_SEQUENCES = '\u001b[?2004h\u001b[>1u'
const DISABLE_SEQUENCES = '\u001b[<u\u001b[?2004l'
/** Escape is the first byte of every other sequence: when nothing follows for this long, it was the key. */
const ESCAPE_TIMEOUT_MS = 30

/** Listens until what it returns is called. */
export function listenToKeyboard(input: NodeJS.ReadStream, output: NodeJS.WriteStream, pressed: (key: Key) => void): () => void {
  const decoder = new KeyDecoder()
  let timer: NodeJS.Timeout | undefined
  const heard = (chunk: string) => {
    clearTimeout(timer)
    for (const key of decoder.push(chunk)) pressed(key)
    if (decoder.hasPending) timer = setTimeout(() => decoder.flush().forEach(pressed), ESCAPE_TIMEOUT_MS)
  }
  input.setEncoding('utf8')
  input.setRawMode?.(true)
  input.on('data', heard)
  input.resume()
  output.write(ENABLE_SEQUENCES)
  const restore = () => {
    output.write(DISABLE_SEQUENCES)
    input.setRawMode?.(false)
  }
  process.once('exit', restore)
  return () => {
    clearTimeout(timer)
    process.off('exit', restore)
    input.off('data', heard)
    input.pause()
    restore()
  }
}
