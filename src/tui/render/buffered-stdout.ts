/** Buffers the output of Ink so that each frame is a single write. */
import { Writable } from 'node:stream'
import { ERASE_BELOW, moveLineUp, moveToLineStart } from './cursor-sequences.ts'

/** Synchronized update: supporting terminals draw everything between these sequences in one step. */
const BEGIN_UPDATE = '\u001b[?2026h'
export const END_UPDATE = '\u001b[?2026l'

/**
 * Ink counts rows: down to the bottom of the live area, and up from there. A terminal that was resized has wrapped long lines again or
 * dropped rows below the cursor, which the process may learn later: tmux also reads what was written before it reports the new size.
 * Therefore the cursor goes up from where it is, line by line, and everything below is erased.
 */
const ERASE_AREA = /(?:\u001b\[(\d+)B)?(?:\u001b\[1G)?((?:\u001b\[2K\u001b\[1A)*)\u001b\[2K\u001b\[G/g
const ERASED_ROW_LENGTH = '\u001b[2K\u001b[1A'.length
const MOVE_TO_BOTTOM = /\u001b\[(\d+)B\u001b\[1G/g
const MOVE_TO_CURSOR = /\u001b\[(\d+)A(?=\u001b\[\d+G\u001b\[\?25h)/g
const UNLIMITED_ROWS = 10_000

/** `flush` writes the buffered output at once. `onFlush` is called before a frame is written, which is discarded if it returns false. */
export function bufferStdout(output: NodeJS.WriteStream, onFlush = (): boolean => true) {
  let buffer = ''
  let scheduled: NodeJS.Immediate | undefined
  const flush = () => {
    clearImmediate(scheduled)
    scheduled = undefined
    if (!onFlush()) buffer = ''
    const columns = output.columns || 80
    const lineUp = moveLineUp(columns)
    // Ink ends an update after each part of a frame.
    const frame = buffer
      .replaceAll(BEGIN_UPDATE, '')
      .replaceAll(END_UPDATE, '')
      .replaceAll(
        ERASE_AREA,
        (_, down = 0, rows) => moveToLineStart(columns) + lineUp.repeat(rows.length / ERASED_ROW_LENGTH - down) + ERASE_BELOW,
      )
      .replaceAll(MOVE_TO_BOTTOM, (_, rows) => '\n'.repeat(Number(rows)))
      .replaceAll(MOVE_TO_CURSOR, (_, rows) => lineUp.repeat(Number(rows)))
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
