/** What is drawn on the terminal, and how much of it can be erased and drawn again after the terminal was resized. */
import type { TerminalSize } from '../state/chat-state.ts'
import { ERASE_BELOW, moveLineUp, moveToLineStart } from './cursor-sequences.ts'

/** Whether a terminal that becomes narrower cuts long lines off or wraps them. In tmux, the cursor also finds their start. */
export type Rewrapping = 'none' | 'wraps' | 'tmux'

export interface HistoryLine {
  width: number
  /** Index of the entry that starts with this line. */
  entry: number | undefined
}

interface DrawnLiveArea {
  widths: readonly number[]
  cursor: { readonly x: number; readonly y: number } | undefined
}

/** More than the highest terminal. */
const MAX_LINES = 1_000

/** What is on the terminal. */
export interface DrawnState {
  history: readonly HistoryLine[]
  live: DrawnLiveArea
  rows: number
}

const NO_LIVE_AREA: DrawnLiveArea = { widths: [], cursor: undefined }

export class DrawnLines {
  readonly #rewrapping: Rewrapping
  #state: DrawnState = { history: [], live: NO_LIVE_AREA, rows: 0 }
  /** The live area that Ink has drawn last, even if it was not written. */
  #inkArea = NO_LIVE_AREA

  constructor(rewrapping: Rewrapping) {
    this.#rewrapping = rewrapping
  }

  get state(): DrawnState {
    return this.#state
  }

  add(history: readonly HistoryLine[], live: DrawnLiveArea, { rows }: TerminalSize): void {
    this.#state = { history: [...this.#state.history, ...history].slice(-MAX_LINES), live, rows }
    this.#inkArea = live
  }

  /** Returns to an earlier state because what was added since is not written. */
  restore(state: DrawnState): void {
    this.#state = state
  }

  clear(): void {
    this.#state = { ...this.#state, history: [], live: NO_LIVE_AREA }
    this.#inkArea = NO_LIVE_AREA
  }

  /**
   * Forgets the live area and the entries that are completely visible. Returns the first of these entries, and the sequence that erases
   * them. It leaves the cursor where Ink expects it: in the same line of a live area that starts at the top of what was erased.
   */
  eraseVisible({ columns, rows }: TerminalSize): { entry: number | undefined; sequence: string } {
    const isRewrapped = this.#rewrapping !== 'none'
    const countRows = (width: number) => (isRewrapped ? Math.max(1, Math.ceil(width / columns)) : 1)
    const sumRows = (widths: readonly number[]) => widths.reduce((sum, width) => sum + countRows(width), 0)
    const { history, live } = this.#state
    const { widths } = live
    const cursor = getCursor(live)
    const start = this.#findFirstVisible(Math.min(rows, this.#state.rows) - 1 - sumRows(widths), countRows)
    const erased = history.slice(start)
    this.#state = { ...this.#state, history: history.slice(0, start) }
    const wrapped = isRewrapped ? Math.floor(cursor.x / columns) : 0
    const linesAbove = [...erased.map(({ width }) => width), ...widths.slice(0, cursor.y)]
    const moveToTop =
      this.#rewrapping === 'tmux'
        ? moveToLineStart(widths[cursor.y] ?? 0) + linesAbove.reverse().map(moveLineUp).join('')
        : `\r${moveUp(sumRows(linesAbove) + wrapped)}`
    // Terminals that become lower may drop the rows below the cursor. Line feeds add them again.
    const height = Math.min(this.#inkArea.widths.length, rows - 1)
    const makeRoom = '\n'.repeat(height) + moveUp(height)
    return {
      entry: erased[0]?.entry,
      sequence: moveToTop + ERASE_BELOW + makeRoom + moveDown(getCursor(this.#inkArea).y),
    }
  }

  /** Returns the position of the first entry that fits the rows. */
  #findFirstVisible(maxRows: number, countRows: (width: number) => number): number {
    const { history } = this.#state
    let first = history.length
    let used = 0
    for (let index = history.length - 1; index >= 0; index--) {
      const { width, entry } = history[index] as HistoryLine
      used += countRows(width)
      if (used > maxRows) break
      if (entry !== undefined) first = index
    }
    return first
  }
}

/** Without a cursor, Ink leaves it below the live area. */
const getCursor = ({ widths, cursor = { x: 0, y: widths.length } }: DrawnLiveArea) => cursor
const moveUp = (rows: number) => (rows > 0 ? `\u001b[${rows}A` : '')
const moveDown = (rows: number) => (rows > 0 ? `\u001b[${rows}B` : '')
