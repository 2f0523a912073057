/** Holds the state of the chat, and says when it changed. */
import { rewriteCommands } from '../../cli/terminal/invocation.ts'
import { type ChatState, INITIAL } from './chat-state.ts'
import { EMPTY, type Happening, type Note, transcribe } from './transcript-reducer.ts'

export class Desk {
  readonly #changed: () => void
  readonly #now: () => number
  #state: ChatState

  constructor(changed: () => void, now: () => number = Date.now, state: ChatState = INITIAL) {
    this.#changed = changed
    this.#now = now
    this.#state = { ...state, now: now() }
  }

  get state(): ChatState {
    return this.#state
  }

  now = (): number => this.#now()

  update(change: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...change }
    this.#changed()
  }

  happen = (happening: Happening): void => {
    const transcript = transcribe(this.#state.transcript, happening)
    if (transcript === this.#state.transcript) return
    const now = this.#now()
    // Each step of a reply is waited for anew: what counts is how long nothing came.
    this.update({ transcript, now, since: now })
  }

  /** Another transcript in place of this one, drawn from its beginning. What belongs to it changes in the same update, so that no key meets one without the other. */
  replace(happenings: readonly Happening[], change: Partial<ChatState> = {}): void {
    const now = this.#now()
    const { drawing } = this.#state
    this.update({
      transcript: happenings.reduce(transcribe, EMPTY),
      now,
      since: now,
      drawing: drawing + 1,
      whole: true,
      from: 0,
      ...change,
    })
  }

  note(text: string, tone: Note['tone'] = 'plain'): void {
    this.happen({ kind: 'noted', text: rewriteCommands(text), tone })
  }

  /** Another conversation begins. */
  begin(text: string): void {
    this.happen({ kind: 'noted', text, begins: true })
  }

  show(markdown: string): void {
    this.happen({ kind: 'noted', text: markdown, markdown: true })
  }

  /** All is drawn anew: as much of the end as there is room for, or the whole of it. */
  redraw({ whole = false, cleared = false } = {}): void {
    const { drawing, from, transcript } = this.#state
    this.update({ drawing: drawing + 1, whole, from: whole ? 0 : cleared ? transcript.entries.length : from })
  }
}
