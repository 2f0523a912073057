/** Makes frames of states: what is new for the terminal's history, and the part that is alive. */
import { BEGINNING, type Feed, fed, tail, type View } from './feed.ts'
import { type Screen, screenOf } from './screen.ts'
import type { ChatState } from './state.ts'
import { type Line, painted } from './styled.ts'

export interface Frame {
  /** Another one means: forget what was printed, all is drawn anew. */
  readonly drawing: number
  /** What was printed, piece by piece. Pieces that are in the terminal's history are not kept. */
  readonly printed: readonly (readonly string[] | undefined)[]
  readonly lines: readonly string[]
  readonly cursor: Screen['cursor']
}

const NOTICED = 2

export class Presenter {
  readonly #colors: boolean
  #feed: Feed = BEGINNING
  #frame: Frame = { drawing: 0, printed: [], lines: [], cursor: undefined }

  constructor(colors: boolean) {
    this.#colors = colors
  }

  get frame(): Frame {
    return this.#frame
  }

  present(state: ChatState): Frame {
    const { size, now, details, transcript, drawing } = state
    const view: View = { columns: size.columns, now, details }
    const anew = drawing !== this.#frame.drawing
    const known = anew ? this.#anew(state, view) : fed(this.#feed, transcript, view)
    this.#feed = known.feed
    const { lines, cursor } = screenOf(state, known.live)
    const before = anew ? [] : this.#frame.printed.map(() => undefined)
    // On an emptied screen Ink draws nothing again that did not change, unless something new comes above it.
    const done = anew && known.done.length < NOTICED ? [...known.done, ...Array.from({ length: NOTICED }, () => [])] : known.done
    const printed = done.length === 0 ? this.#frame.printed : [...before, this.#painted(done)]
    this.#frame = { drawing, printed, lines: this.#painted(lines), cursor }
    return this.#frame
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
