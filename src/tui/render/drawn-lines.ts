/** What is drawn on the terminal, and how much of it can be erased and drawn again after the terminal was resized. */
import { graphemeWidth, splitGraphemes } from '../../cli/terminal/text.ts'
import { ERASE_BELOW, moveLineUp, moveToLineStart } from './cursor-sequences.ts'
import { addPrinted, NOTHING_PRINTED, type PrintedText } from './printed-text.ts'
import type { ScrollbackState } from './scrollback.ts'

/** Whether a terminal that becomes narrower cuts long lines off or wraps them. In tmux, the cursor also finds their start. */
export type Rewrapping = 'none' | 'wraps' | 'tmux'

/** Where rendering continues, and what of it the terminal already shows. */
export interface Position {
  readonly scrollback: ScrollbackState
  readonly printed: PrintedText
}

export interface DrawnLine {
  readonly text: string
  readonly width: number
  /** The position from which this line and the following ones are rendered again. */
  readonly start?: Position | undefined
}

interface DrawnLiveArea {
  readonly lines: readonly DrawnLine[]
  /** Number of lines at the top that become part of the history if the terminal moves them to the scrollback. */
  readonly replyLines: number
  readonly cursor: { readonly x: number; readonly y: number } | undefined
}

/** More than the highest terminal. */
const MAX_LINES = 1_000

/** What is on the terminal. */
export interface DrawnState {
  readonly history: readonly DrawnLine[]
  readonly live: DrawnLiveArea
}

interface EraseOptions {
  columns: number
  rows: number
  /** Row of the cursor on the screen, from 0. Unknown if the terminal does not report it: then only the live area is erased. */
  cursorRow: number | undefined
  /** Whether the lines will have another text, so that they are only drawn again from the start of an entry or a part. */
  hasOtherText: boolean
}

const NO_LIVE_AREA: DrawnLiveArea = { lines: [], replyLines: 0, cursor: undefined }

export class DrawnLines {
  readonly #rewrapping: Rewrapping
  #state: DrawnState = { history: [], live: NO_LIVE_AREA }
  /** The live area that Ink has drawn last, even if it was not written. */
  #inkArea = NO_LIVE_AREA

  constructor(rewrapping: Rewrapping) {
    this.#rewrapping = rewrapping
  }

  get state(): DrawnState {
    return this.#state
  }

  add(added: readonly DrawnLine[], live: DrawnLiveArea): void {
    const all = [...this.#state.history, ...added]
    const history = all.slice(-MAX_LINES)
    const [first] = history
    if (first && all.length > MAX_LINES) history[0] = { ...first, start: findPosition(all, all.length - MAX_LINES) }
    this.#state = { history, live }
    this.#inkArea = live
  }

  /** Returns to an earlier state because what was added since is not written. */
  restore(state: DrawnState): void {
    this.#state = state
  }

  clear(): void {
    this.#state = { history: [], live: NO_LIVE_AREA }
    this.#inkArea = NO_LIVE_AREA
  }

  /**
   * Forgets the lines that are completely visible, including the live area. Returns where to continue if that has changed, and the
   * sequence that erases these lines. It leaves the cursor where Ink expects it: in the same line of a live area that starts at the top
   * of what was erased.
   */
  eraseVisible(options: EraseOptions): { position: Position | undefined; sequence: string } {
    const { columns, rows } = options
    const { history, live } = this.#state
    const cursor = getCursor(live)
    const lines = [...history, ...live.lines]
    const cursorLine = history.length + cursor.y
    const countRows = (line: DrawnLine) => (this.#rewrapping === 'none' ? 1 : countWrappedRows(line, columns))
    const wrapped = this.#rewrapping === 'none' ? 0 : Math.floor(cursor.x / columns)
    const visible = this.#findFirstVisible(lines.slice(0, cursorLine), wrapped, options.cursorRow, countRows)
    const first = options.hasOtherText ? findStart(history, visible) : Math.min(visible, history.length + live.replyLines)
    // Above lines of the live area that cannot be erased, nothing else can be.
    const kept = visible > history.length + live.replyLines ? [] : lines.slice(0, first)
    this.#state = { history: kept, live: NO_LIVE_AREA }
    const above = lines.slice(first, cursorLine)
    const moveToTop =
      this.#rewrapping === 'tmux'
        ? moveToLineStart(lines[cursorLine]?.width ?? 0) +
          [...above]
            .reverse()
            .map(({ width }) => moveLineUp(width))
            .join('')
        : `\r${moveUp(above.reduce((sum, line) => sum + countRows(line), wrapped))}`
    // Terminals that become lower may drop the rows below the cursor. Line feeds add them again.
    const height = Math.min(this.#inkArea.lines.length, rows - 1)
    const makeRoom = '\n'.repeat(height) + moveUp(height)
    return {
      position: first === history.length ? undefined : findPosition(lines, first),
      sequence: moveToTop + ERASE_BELOW + makeRoom + moveDown(getCursor(this.#inkArea).y),
    }
  }

  /** Returns the index of the first line above the cursor that is completely on the screen. */
  #findFirstVisible(
    above: readonly DrawnLine[],
    wrapped: number,
    cursorRow: number | undefined,
    countRows: (line: DrawnLine) => number,
  ): number {
    if (cursorRow === undefined) return this.#state.history.length
    let first = above.length
    for (let row = cursorRow - wrapped; first > 0; first--) {
      row -= countRows(above[first - 1] as DrawnLine)
      if (row < 0) break
    }
    return first
  }
}

/** Returns the index of the first line from `index` on that starts an entry or a part. */
function findStart(history: readonly DrawnLine[], index: number): number {
  const start = history.findIndex((line, at) => at >= index && line.start?.printed === NOTHING_PRINTED)
  return start === -1 ? history.length : start
}

/** Returns the position of a line: the last start before it, and what was printed since. */
function findPosition(lines: readonly DrawnLine[], index: number): Position | undefined {
  const first = lines.findLastIndex((line, at) => at <= index && line.start !== undefined)
  const start = lines[first]?.start
  if (!start) return undefined
  const texts = lines.slice(first, index).map(({ text }) => text)
  return { scrollback: start.scrollback, printed: texts.length === 0 ? start.printed : addPrinted(start.printed, texts) }
}

/** A character of two columns that does not fit a row is moved to the next one. */
function countWrappedRows({ text, width }: DrawnLine, columns: number): number {
  if (width <= columns) return 1
  if (width === text.length) return Math.ceil(width / columns)
  let rows = 1
  let used = 0
  for (const grapheme of splitGraphemes(text)) {
    const size = graphemeWidth(grapheme)
    if (used + size > columns) {
      rows++
      used = 0
    }
    used += size
  }
  return rows
}

/** Without a cursor, Ink leaves it below the live area. */
const getCursor = ({ lines, cursor = { x: 0, y: lines.length } }: DrawnLiveArea) => cursor
const moveUp = (rows: number) => (rows > 0 ? `\u001b[${rows}A` : '')
const moveDown = (rows: number) => (rows > 0 ? `\u001b[${rows}B` : '')
