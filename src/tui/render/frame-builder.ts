/** Makes frames of states: what is new for the terminal's history, and the part that is alive. */

import { type Line, painted } from '../markdown/styled-text.ts'
import type { ChatState } from '../state/chat-state.ts'
import { type Screen, screenOf } from './live-area.ts'
import { BEGINNING, type Feed, fed, tail, type View } from './scrollback.ts'

export interface Frame {
  /** The screen is emptied first: all is drawn anew. */
  readonly anew: boolean
  /** What is new for the terminal's history. */
  readonly history: readonly string[]
  /** What is alive, as it looks now. */
  readonly lines: readonly string[]
  readonly cursor: Screen['cursor']
}

export class Presenter {
  readonly #colors: boolean
  #feed: Feed
  #drawing: number

  /** What was to be drawn anew before the first frame is drawn for the first time, but for the entries that stand on the terminal already. */
  constructor(colors: boolean, { drawing, from }: Pick<ChatState, 'drawing' | 'from'> = { drawing: 0, from: 0 }) {
    this.#colors = colors
    this.#drawing = drawing
    this.#feed = { ...BEGINNING, entries: from }
  }

  present(state: ChatState): Frame {
    const { size, now, details, transcript, drawing } = state
    const view: View = { columns: size.columns, now, details }
    const anew = drawing !== this.#drawing
    const { feed, done, live } = anew ? this.#anew(state, view) : fed(this.#feed, transcript, view)
    this.#feed = feed
    this.#drawing = drawing
    const { lines, cursor } = screenOf(state, live)
    return { anew, history: this.#painted(done), lines: this.#painted(lines), cursor }
  }

  /** The whole conversation where that is asked for, else as much of its end as there is room for. */
  #anew(state: ChatState, view: View): ReturnType<typeof fed> {
    const { transcript, size, whole, from } = state
    if (whole) return fed(BEGINNING, transcript, view)
    const shown = { ...transcript, entries: transcript.entries.slice(from) }
    const probe = tail(shown, view, 0)
    const room = size.rows - 1 - screenOf(state, probe.live).lines.length
    const made = tail(shown, view, room)
    return { ...made, feed: { ...made.feed, entries: transcript.entries.length } }
  }

  #painted(lines: readonly Line[]): string[] {
    return lines.map((each) => painted(each, this.#colors))
  }
}
