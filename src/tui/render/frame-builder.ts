/** Builds frames from chat states: new lines for the scrollback and the live area. */
import { type Line, measureLine, toAnsi } from '../../cli/terminal/markdown/styled-text.ts'
import type { ChatState, TerminalSize } from '../state/chat-state.ts'
import { DrawnLines, type DrawnState, type HistoryLine, type Rewrapping } from './drawn-lines.ts'
import { type LiveArea, renderLiveArea } from './live-area.ts'
import type { ViewOptions } from './render-tool-call.ts'
import { advanceScrollback, EMPTY_SCROLLBACK, renderTail, type ScrollbackState } from './scrollback.ts'

export interface Frame {
  /** Clears the screen first. */
  readonly isFullRedraw: boolean
  /** Sequence that erases visible lines, to be written before the frame is drawn. */
  readonly erase?: string
  /** New lines for the scrollback. */
  readonly history: readonly string[]
  /** Current lines of the live area. */
  readonly lines: readonly string[]
  readonly cursor: LiveArea['cursor']
}

interface BuilderState {
  scrollback: ScrollbackState
  redrawCount: number
  size: TerminalSize | undefined
  lastEntry: number
  hasSeparator: boolean
  drawn: DrawnState
}

type DrawnLine = HistoryLine & { readonly line: Line }

const EMPTY_LINE: DrawnLine = { line: [], width: 0, entry: undefined }

export class FrameBuilder {
  readonly #colors: boolean
  readonly #drawn: DrawnLines
  #scrollback: ScrollbackState
  #redrawCount: number
  #size: TerminalSize | undefined
  /** The last entry of which a line is drawn. */
  #lastEntry = -1
  /** Whether the empty line after the history is part of the live area. */
  #hasSeparator = false
  /** The state before the frames that are not written yet. */
  #writtenState: BuilderState | undefined

  /** Skips entries before `firstEntry`, which the terminal already shows. */
  constructor(
    colors: boolean,
    { redrawCount, firstEntry }: Pick<ChatState, 'redrawCount' | 'firstEntry'> = { redrawCount: 0, firstEntry: 0 },
    rewrapping: Rewrapping = 'wraps',
  ) {
    this.#colors = colors
    this.#redrawCount = redrawCount
    this.#scrollback = { ...EMPTY_SCROLLBACK, entries: firstEntry }
    this.#drawn = new DrawnLines(rewrapping)
  }

  /** Call when the frames were written. */
  commit(): void {
    this.#writtenState = undefined
  }

  /**
   * Forgets the frames since the last commit if the terminal has another size meanwhile, and returns true: neither they nor what Ink adds
   * before the next frame must be written. The next frame contains what they would have added.
   */
  discardOutdated(size: TerminalSize): boolean {
    // Ink writes more with its first frame.
    if (!this.#writtenState?.size || isSameSize(this.#size, size)) return false
    const { scrollback, redrawCount, size: writtenSize, lastEntry, hasSeparator, drawn } = this.#writtenState
    this.#scrollback = scrollback
    this.#redrawCount = redrawCount
    this.#size = writtenSize
    this.#lastEntry = lastEntry
    this.#hasSeparator = hasSeparator
    this.#drawn.restore(drawn)
    return true
  }

  build(state: ChatState): Frame {
    this.#writtenState ??= {
      scrollback: this.#scrollback,
      redrawCount: this.#redrawCount,
      size: this.#size,
      lastEntry: this.#lastEntry,
      hasSeparator: this.#hasSeparator,
      drawn: this.#drawn.state,
    }
    const { size, now, showsDetails, transcript, redrawCount } = state
    const view: ViewOptions = { columns: size.columns, now, details: showsDetails }
    const isFullRedraw = redrawCount !== this.#redrawCount
    const erase = isFullRedraw ? undefined : this.#eraseAfterResize(size)
    const update = isFullRedraw ? this.#redraw(state, view) : advanceScrollback(this.#scrollback, transcript, view)
    const { done, live, entryLines } = update
    this.#scrollback = update.state
    this.#redrawCount = redrawCount
    this.#size = size
    if (isFullRedraw) this.#forgetScreen(transcript)
    const area = renderLiveArea(state, live)
    const history = this.#moveSeparator(this.#markEntries(done, entryLines), area.lines.length, size)
    const isSeparated = this.#hasSeparator && area.lines.length < size.rows - 1
    const lines = isSeparated ? [[], ...area.lines] : area.lines
    const cursor = isSeparated && area.cursor ? { ...area.cursor, y: area.cursor.y + 1 } : area.cursor
    this.#drawn.add(history, { widths: lines.map(measureLine), cursor }, size)
    return {
      isFullRedraw,
      ...(erase === undefined ? {} : { erase }),
      history: history.map(({ line }) => toAnsi(line, this.#colors)),
      lines: lines.map((line) => toAnsi(line, this.#colors)),
      cursor,
    }
  }

  /** Only whole entries can be erased again, and the first one on a cleared screen may be cut off. */
  #forgetScreen({ entries, live }: ChatState['transcript']): void {
    this.#drawn.clear()
    this.#hasSeparator = false
    this.#lastEntry = live ? entries.length : entries.length - 1
  }

  /**
   * Moves an empty line at the end of the history to the live area. If the terminal was resized and the process does not know it yet, the
   * first line of the live area may remain, and an empty one does not matter.
   */
  #moveSeparator(history: DrawnLine[], liveRows: number, { rows }: TerminalSize): DrawnLine[] {
    if (history.length === 0) return history
    const lines = this.#hasSeparator ? [EMPTY_LINE, ...history] : history
    this.#hasSeparator = lines.at(-1)?.width === 0 && liveRows < rows - 1
    return this.#hasSeparator ? lines.slice(0, -1) : lines
  }

  /** Returns the empty line that is part of the live area, before that is removed. */
  takeSeparator(): string[] {
    const lines = this.#hasSeparator ? [''] : []
    this.#hasSeparator = false
    return lines
  }

  /** Call when other output follows what was drawn, so that a resize does not erase it. */
  forgetDrawnLines(): void {
    this.#drawn.clear()
  }

  /** The visible messages are drawn again for the new width. Earlier ones stay in the scrollback as they are. */
  #eraseAfterResize(size: TerminalSize): string | undefined {
    if (this.#size === undefined || isSameSize(this.#size, size)) return undefined
    const { entry, sequence } = this.#drawn.eraseVisible(size)
    if (entry !== undefined) {
      this.#scrollback = { entries: entry, reply: undefined }
      this.#lastEntry = entry - 1
      this.#hasSeparator = false
    }
    return sequence
  }

  #markEntries(lines: readonly Line[], entryLines: ReadonlyMap<number, number>): DrawnLine[] {
    return lines.map((line, index) => {
      const entry = entryLines.get(index)
      const isStart = entry !== undefined && entry > this.#lastEntry
      if (isStart) this.#lastEntry = entry
      return { line, width: measureLine(line), entry: isStart ? entry : undefined }
    })
  }

  /** Renders the whole transcript if requested, otherwise the end of it that fits the screen. */
  #redraw(state: ChatState, view: ViewOptions): ReturnType<typeof advanceScrollback> {
    const { transcript, size, redrawsAll, firstEntry } = state
    if (redrawsAll) return advanceScrollback(EMPTY_SCROLLBACK, transcript, view)
    const visible = { ...transcript, entries: transcript.entries.slice(firstEntry) }
    const probe = renderTail(visible, view, 0)
    const rows = size.rows - 1 - renderLiveArea(state, probe.live).lines.length
    const tail = renderTail(visible, view, rows)
    return { ...tail, state: { ...tail.state, entries: transcript.entries.length } }
  }
}

const isSameSize = (a: TerminalSize | undefined, b: TerminalSize) => a?.columns === b.columns && a.rows === b.rows
