/** Buffers the output of Ink so that each frame is a single write. */
import { Writable } from 'node:stream'

interface BufferedStdout {
  stream: NodeJS.WriteStream
  /** Writes the buffered output now. */
  flush(): void
}

/** Synchronized update: supporting terminals draw everything between these sequences in one step. */
const BEGIN_UPDATE = '\u001b[?2026h'
export const END_UPDATE = '\u001b[?2026l'

/**
 * Ink moves the cursor below the live area before it erases it. A terminal that became lower may have dropped these rows, which the process
 * learns later (tmux waits up to 250 ms). Line feeds add them again, so that no line above the live area is erased instead.
 */
const MOVE_TO_BOTTOM = /\u001b\[(\d+)B\u001b\[1G/g
const UNLIMITED_ROWS = 10_000

/** `onFlush` is called before a frame is written, which is discarded if it returns false. */
export function bufferStdout(output: NodeJS.WriteStream, onFlush = (): boolean => true): BufferedStdout {
  let buffer = ''
  let scheduled: NodeJS.Immediate | undefined
  const flush = () => {
    clearImmediate(scheduled)
    scheduled = undefined
    if (!onFlush()) buffer = ''
    // Ink ends an update after each part of a frame.
    const frame = buffer
      .replaceAll(BEGIN_UPDATE, '')
      .replaceAll(END_UPDATE, '')
      .replaceAll(MOVE_TO_BOTTOM, (_, rows) => '\n'.repeat(Number(rows)))
    buffer = ''
    if (frame !== '') output.write(BEGIN_UPDATE + frame + END_UPDATE)
  }
  const sink = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _, done) {
      buffer += chunk.toString()
      scheduled ??= setImmediate(flush)
      done()
    },
  })
  Object.defineProperties(sink, {
    isTTY: { value: true },
    columns: { get: () => output.columns },
    // Ink clears screen and scrollback if a frame is as high as the terminal, for example after it became lower.
    rows: { value: UNLIMITED_ROWS },
  })
  return { stream: sink as unknown as NodeJS.WriteStream, flush }
}
