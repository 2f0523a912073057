/** Holds the state of the chat, and says when it changed. */
import { rewriteCommands } from '../../cli/terminal/invocation.ts'
import { type ChatState, INITIAL_STATE } from './chat-state.ts'
import { EMPTY_TRANSCRIPT, type Note, reduceTranscript, type TranscriptAction } from './transcript-reducer.ts'

export class ChatStore {
  readonly #onChange: () => void
  readonly #now: () => number
  #state: ChatState

  constructor(changed: () => void, now: () => number = Date.now, state: ChatState = INITIAL_STATE) {
    this.#onChange = changed
    this.#now = now
    this.#state = { ...state, now: now() }
  }

  get state(): ChatState {
    return this.#state
  }

  now = (): number => this.#now()

  update(change: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...change }
    this.#onChange()
  }

  dispatch = (happening: TranscriptAction): void => {
    const transcript = reduceTranscript(this.#state.transcript, happening)
    if (transcript === this.#state.transcript) return
    const now = this.#now()
    // Each step of a reply is waited for anew: what counts is how long nothing came.
    this.update({ transcript, now, waitingSince: now })
  }

  /** Another transcript in place of this one, drawn from its beginning. What belongs to it changes in the same update, so that no key meets one without the other. */
  replaceTranscript(happenings: readonly TranscriptAction[], change: Partial<ChatState> = {}): void {
    const now = this.#now()
    const { redrawCount: drawing } = this.#state
    this.update({
      transcript: happenings.reduce(reduceTranscript, EMPTY_TRANSCRIPT),
      now,
      waitingSince: now,
      redrawCount: drawing + 1,
      redrawsAll: true,
      firstEntry: 0,
      ...change,
    })
  }

  addNote(text: string, tone: Note['tone'] = 'plain'): void {
    this.dispatch({ kind: 'noted', text: rewriteCommands(text), tone })
  }

  /** Another conversation begins. */
  announceConversation(text: string): void {
    this.dispatch({ kind: 'noted', text, startsConversation: true })
  }

  addMarkdown(markdown: string): void {
    this.dispatch({ kind: 'noted', text: markdown, markdown: true })
  }

  /** All is drawn anew: as much of the end as there is room for, or the whole of it. */
  redraw({ whole = false, cleared = false } = {}): void {
    const { redrawCount: drawing, firstEntry: from, transcript } = this.#state
    this.update({ redrawCount: drawing + 1, redrawsAll: whole, firstEntry: whole ? 0 : cleared ? transcript.entries.length : from })
  }
}
