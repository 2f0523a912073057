/** The terminal as Ink gets it: what it writes for a frame goes out in one piece, so that nobody sees half of it. */
import { Writable } from 'node:stream'

export interface BufferedStdout {
  /** For Ink. */
  stream: NodeJS.WriteStream
  /** Hands over what is held now. */
  flush(): void
}

/** Terminals that know these show nothing of what stands between them before its end. */
const BEGIN_UPDATE = '\u001b[?2026h'
export const END_UPDATE = '\u001b[?2026l'

export function bufferStdout(output: NodeJS.WriteStream): BufferedStdout {
  let held = ''
  let scheduled: NodeJS.Immediate | undefined
  const flush = () => {
    clearImmediate(scheduled)
    scheduled = undefined
    // Ink ends an update after each part of a frame.
    const frame = held.replaceAll(BEGIN_UPDATE, '').replaceAll(END_UPDATE, '')
    held = ''
    if (frame !== '') output.write(BEGIN_UPDATE + frame + END_UPDATE)
  }
  const sink = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _, done) {
      held += chunk.toString()
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
