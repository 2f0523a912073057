/** Builds frames from chat states: new lines for the scrollback and the live area. */
import { type Line, toAnsi } from '../../cli/terminal/markdown/styled-text.ts'
import type { ChatState } from '../state/chat-state.ts'
import { type LiveArea, renderLiveArea } from './live-area.ts'
import type { ViewOptions } from './render-tool-call.ts'
import { advanceScrollback, EMPTY_SCROLLBACK, renderTail, type ScrollbackState } from './scrollback.ts'

export interface Frame {
  /** Clears the screen first. */
  readonly isFullRedraw: boolean
  /** New lines for the scrollback. */
  readonly history: readonly string[]
  /** Current lines of the live area. */
  readonly lines: readonly string[]
  readonly cursor: LiveArea['cursor']
}

export class FrameBuilder {
  readonly #colors: boolean
  #scrollback: ScrollbackState
  #redrawCount: number

  /** Skips entries before `firstEntry`, which the terminal already shows. */
  constructor(
    colors: boolean,
    { redrawCount, firstEntry }: Pick<ChatState, 'redrawCount' | 'firstEntry'> = { redrawCount: 0, firstEntry: 0 },
  ) {
    this.#colors = colors
    this.#redrawCount = redrawCount
    this.#scrollback = { ...EMPTY_SCROLLBACK, entries: firstEntry }
  }

  build(state: ChatState): Frame {
    const { size, now, showsDetails, transcript, redrawCount } = state
    const view: ViewOptions = { columns: size.columns, now, details: showsDetails }
    const isFullRedraw = redrawCount !== this.#redrawCount
    const {
      state: scrollback,
      done,
      live,
    } = isFullRedraw ? this.#redraw(state, view) : advanceScrollback(this.#scrollback, transcript, view)
    this.#scrollback = scrollback
    this.#redrawCount = redrawCount
    const { lines, cursor } = renderLiveArea(state, live)
    return { isFullRedraw, history: this.#toAnsi(done), lines: this.#toAnsi(lines), cursor }
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

  #toAnsi(lines: readonly Line[]): string[] {
    return lines.map((line) => toAnsi(line, this.#colors))
  }
}
