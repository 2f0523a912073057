/** Builds frames from chat states: new lines for the scrollback and the live area. */
import { type Line, measureLine, toAnsi, toPlainText } from '../../cli/terminal/markdown/styled-text.ts'
import { type ChatState, INITIAL_STATE, type TerminalSize } from '../state/chat-state.ts'
import type { Part } from '../state/reply-reducer.ts'
import { type DrawnLine, DrawnLines, type DrawnState, type Position, type Rewrapping } from './drawn-lines.ts'
import { type LiveArea, renderLiveArea } from './live-area.ts'
import { NOTHING_PRINTED, omitPrinted } from './printed-text.ts'
import { advanceScrollback, EMPTY_SCROLLBACK, listDetailsAbove } from './scrollback.ts'

export interface Frame {
  /** Erases the screen first, or clears it as a shell does. */
  readonly clear?: 'erase' | 'clear' | undefined
  /** Sequence that erases visible lines, to be written before the frame is drawn. */
  readonly erase?: string
  /** New lines for the scrollback. */
  readonly history: readonly string[]
  /** Current lines of the live area. */
  readonly lines: readonly string[]
  readonly cursor: LiveArea['cursor']
}

interface BuilderState {
  /** Where rendering continues. */
  readonly position: Position
  /** The state of the chat that was drawn last. */
  readonly built: Built | undefined
  /** Whether the empty line after the history is part of the live area. */
  readonly hasSeparator: boolean
}

type Built = Pick<ChatState, 'size' | 'showsDetails' | 'redrawCount' | 'clearCount'>
type RenderedLine = DrawnLine & { readonly line: Line }

const UNKNOWN_SIZE: TerminalSize = { columns: 0, rows: 0 }
const EMPTY_LINE: RenderedLine = { line: [], text: '', width: 0 }

export class FrameBuilder {
  readonly #colors: boolean
  readonly #drawn: DrawnLines
  #state: BuilderState
  /** Details that the user asked for and that are above the visible lines. */
  #missedDetails: readonly Part[] = []
  /** The state before the frames that are not written yet. */
  #written: (BuilderState & { readonly drawn: DrawnState }) | undefined

  /** Skips entries before `firstEntry`, which the terminal already shows. */
  constructor(colors: boolean, { firstEntry }: Pick<ChatState, 'firstEntry'> = INITIAL_STATE, rewrapping: Rewrapping = 'wraps') {
    this.#colors = colors
    const scrollback = { ...EMPTY_SCROLLBACK, entries: firstEntry }
    this.#state = { position: { scrollback, printed: NOTHING_PRINTED }, built: undefined, hasSeparator: false }
    this.#drawn = new DrawnLines(rewrapping)
  }

  /** Call when the frames were written. */
  commit(): void {
    this.#written = undefined
  }

  /**
   * Forgets the frames since the last commit if the terminal has another size meanwhile, and returns true: neither they nor what Ink adds
   * before the next frame must be written. The next frame contains what they would have added.
   */
  discardOutdated(size: TerminalSize): boolean {
    // Ink writes more with its first frame.
    if (!this.#written?.built || !this.#state.built || isSameSize(this.#state.built.size, size)) return false
    const { drawn, built, ...state } = this.#written
    // Ink has drawn these frames, so the lines that the terminal shows are erased before the next one even if it has the old size again.
    this.#state = { ...state, built: { ...built, size: UNKNOWN_SIZE } }
    this.#drawn.restore(drawn)
    return true
  }

  /** Whether the next frame draws visible lines again, for which the row of the cursor is needed. */
  drawsAgain({ size, showsDetails, redrawCount, clearCount }: Built): boolean {
    const { built } = this.#state
    if (built?.redrawCount !== redrawCount || built.clearCount !== clearCount) return false
    return !isSameSize(built.size, size) || built.showsDetails !== showsDetails
  }

  build(state: ChatState, cursorRow?: number): Frame {
    this.#written ??= { ...this.#state, drawn: this.#drawn.state }
    const { built } = this.#state
    const clear =
      built && built.redrawCount !== state.redrawCount ? 'erase' : built && built.clearCount !== state.clearCount ? 'clear' : undefined
    const erase = this.drawsAgain(state) ? this.#eraseVisible(state, cursorRow) : undefined
    const opensDetails = erase !== undefined && state.showsDetails && !built?.showsDetails
    this.#missedDetails = opensDetails ? listDetailsAbove(this.#state.position.scrollback, state.transcript) : []
    if (clear) this.#forgetScreen(clear === 'erase')
    const { size, showsDetails, redrawCount, clearCount } = state
    this.#state = { ...this.#state, built: { size, showsDetails, redrawCount, clearCount } }
    const { done, live } = this.#advance(state)
    const area = renderLiveArea(state, live)
    const history = this.#moveSeparator(done, area.lines.length, size)
    const drawn = this.#addSeparator(area, size)
    const lines = drawn.lines.map(toDrawnLine)
    const firstLine = drawn.replyLines - area.replyLines
    this.#drawn.add(history, {
      lines: lines.map((line, index) => (index === firstLine ? { ...line, start: this.#state.position } : line)),
      replyLines: area.isCut ? 0 : drawn.replyLines,
      cursor: drawn.cursor,
    })
    return {
      clear,
      erase,
      history: history.map(({ line }) => toAnsi(line, this.#colors)),
      lines: lines.map(({ line }) => toAnsi(line, this.#colors)),
      cursor: drawn.cursor,
    }
  }

  /** Returns the details that the last frame could not show in place. */
  takeMissedDetails(): readonly Part[] {
    const missed = this.#missedDetails
    this.#missedDetails = []
    return missed
  }

  /** Renders what is new. Text that a resize has left in the scrollback is omitted, up to the next entry or part. */
  #advance({ transcript, size, now, showsDetails }: ChatState): { done: RenderedLine[]; live: readonly Line[] } {
    const { position } = this.#state
    const { printed } = position
    const update = advanceScrollback(position.scrollback, transcript, { columns: size.columns, now, details: showsDetails })
    const end = [...update.starts.keys()].find((index) => index > 0)
    const { rest, left } = omitPrinted(update.done.slice(0, end), printed)
    const done = rest.map(toDrawnLine)
    if (done[0]) done[0] = { ...done[0], start: position }
    const others = end === undefined ? [] : update.done.slice(end)
    for (const [index, line] of others.entries()) {
      const scrollback = update.starts.get((end ?? 0) + index)
      done.push({ ...toDrawnLine(line), start: scrollback && { scrollback, printed: NOTHING_PRINTED } })
    }
    const isSamePart = end === undefined && rest.length === 0 && transcript.live !== undefined
    this.#state = { ...this.#state, position: { scrollback: update.state, printed: isSamePart ? left : NOTHING_PRINTED } }
    return { done, live: isSamePart ? omitPrinted(update.live, left).rest : update.live }
  }

  /** `isReplaced`: whether the screen will show another transcript. */
  #forgetScreen(isReplaced: boolean): void {
    this.#drawn.clear()
    const position = isReplaced ? { scrollback: EMPTY_SCROLLBACK, printed: NOTHING_PRINTED } : this.#state.position
    this.#state = { ...this.#state, position, hasSeparator: false }
  }

  /**
   * Moves an empty line at the end of the history to the live area. If the terminal was resized and the process does not know it yet, the
   * first line of the live area may remain, and an empty one does not matter.
   */
  #moveSeparator(history: RenderedLine[], liveRows: number, { rows }: TerminalSize): RenderedLine[] {
    if (history.length === 0) return history
    const lines = this.#state.hasSeparator ? [EMPTY_LINE, ...history] : history
    const hasSeparator = lines.at(-1)?.width === 0 && liveRows < rows - 1
    this.#state = { ...this.#state, hasSeparator }
    return hasSeparator ? lines.slice(0, -1) : lines
  }

  #addSeparator(area: LiveArea, { rows }: TerminalSize): LiveArea {
    const { lines, replyLines, cursor } = area
    if (!this.#state.hasSeparator || lines.length >= rows - 1) return area
    return { ...area, lines: [[], ...lines], replyLines: replyLines + 1, cursor: cursor && { ...cursor, y: cursor.y + 1 } }
  }

  /** Returns the empty line that is part of the live area, before that is removed. */
  takeSeparator(): string[] {
    const lines = this.#state.hasSeparator ? [''] : []
    this.#state = { ...this.#state, hasSeparator: false }
    return lines
  }

  /** Call when other output follows what was drawn, so that a resize does not erase it. */
  forgetDrawnLines(): void {
    this.#drawn.clear()
  }

  /** The visible text is drawn again. What is in the scrollback stays as it is, and the terminal wraps it again. */
  #eraseVisible({ size, showsDetails }: Built, cursorRow: number | undefined): string {
    const hasOtherText = this.#state.built?.showsDetails !== showsDetails
    const { position, sequence } = this.#drawn.eraseVisible({ ...size, cursorRow, hasOtherText })
    if (position !== undefined) this.#state = { ...this.#state, position, hasSeparator: false }
    return sequence
  }
}

const toDrawnLine = (line: Line): RenderedLine => ({ line, text: toPlainText(line), width: measureLine(line) })
const isSameSize = (a: TerminalSize, b: TerminalSize) => a.columns === b.columns && a.rows === b.rows
