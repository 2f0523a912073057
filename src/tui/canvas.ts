/** The terminal as Ink gets it: what it writes for a frame goes out in one piece, so that nobody sees half of it. */
import { Writable } from 'node:stream'

export interface Canvas {
  /** For Ink. */
  stream: NodeJS.WriteStream
  /** Pieces that went out: how often the screen was drawn. */
  readonly drawn: number
  /** Hands over what is held now. */
  flush(): void
}

export function canvasOn(output: NodeJS.WriteStream): Canvas {
  let held = ''
  let scheduled: NodeJS.Immediate | undefined
  let drawn = 0
  const flush = () => {
    clearImmediate(scheduled)
    scheduled = undefined
    if (held === '') return
    drawn++
    output.write(held)
    held = ''
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
  return {
    stream: sink as unknown as NodeJS.WriteStream,
    get drawn() {
      return drawn
    },
    flush,
  }
}
