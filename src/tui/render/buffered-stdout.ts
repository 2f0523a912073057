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

export function bufferStdout(output: NodeJS.WriteStream): BufferedStdout {
  let buffer = ''
  let scheduled: NodeJS.Immediate | undefined
  const flush = () => {
    clearImmediate(scheduled)
    scheduled = undefined
    // Ink ends an update after each part of a frame.
    const frame = buffer.replaceAll(BEGIN_UPDATE, '').replaceAll(END_UPDATE, '')
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
    rows: { get: () => output.rows },
  })
  return { stream: sink as unknown as NodeJS.WriteStream, flush }
}
