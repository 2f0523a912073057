/** Makes frames of states: what is new for the terminal's history, and the part that is alive. */

import { type Line, toAnsi } from '../markdown/styled-text.ts'
import type { ChatState } from '../state/chat-state.ts'
import { type LiveArea, renderLiveArea } from './live-area.ts'
import { advanceScrollback, EMPTY_SCROLLBACK, renderTail, type ScrollbackState, type ScrollbackView } from './scrollback.ts'

export interface Frame {
  /** The screen is emptied first: all is drawn anew. */
  readonly isFullRedraw: boolean
  /** What is new for the terminal's history. */
  readonly history: readonly string[]
  /** What is alive, as it looks now. */
  readonly lines: readonly string[]
  readonly cursor: LiveArea['cursor']
}

export class FrameBuilder {
  readonly #colors: boolean
  #scrollback: ScrollbackState
  #redrawCount: number

  /** What was to be drawn anew before the first frame is drawn for the first time, but for the entries that stand on the terminal already. */
  constructor(
    colors: boolean,
    { redrawCount: drawing, firstEntry: from }: Pick<ChatState, 'redrawCount' | 'firstEntry'> = { redrawCount: 0, firstEntry: 0 },
  ) {
    this.#colors = colors
    this.#redrawCount = drawing
    this.#scrollback = { ...EMPTY_SCROLLBACK, entries: from }
  }

  build(state: ChatState): Frame {
    const { size, now, showsDetails: details, transcript, redrawCount: drawing } = state
    const view: ScrollbackView = { columns: size.columns, now, details }
    const anew = drawing !== this.#redrawCount
    const { state: feed, done, live } = anew ? this.#redraw(state, view) : advanceScrollback(this.#scrollback, transcript, view)
    this.#scrollback = feed
    this.#redrawCount = drawing
    const { lines, cursor } = renderLiveArea(state, live)
    return { isFullRedraw: anew, history: this.#toAnsi(done), lines: this.#toAnsi(lines), cursor }
  }

  /** The whole conversation where that is asked for, else as much of its end as there is room for. */
  #redraw(state: ChatState, view: ScrollbackView): ReturnType<typeof advanceScrollback> {
    const { transcript, size, redrawsAll: whole, firstEntry: from } = state
    if (whole) return advanceScrollback(EMPTY_SCROLLBACK, transcript, view)
    const shown = { ...transcript, entries: transcript.entries.slice(from) }
    const probe = renderTail(shown, view, 0)
    const room = size.rows - 1 - renderLiveArea(state, probe.live).lines.length
    const made = renderTail(shown, view, room)
    return { ...made, state: { ...made.state, entries: transcript.entries.length } }
  }

  #toAnsi(lines: readonly Line[]): string[] {
    return lines.map((each) => toAnsi(each, this.#colors))
  }
}
