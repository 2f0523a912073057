/** Holds the state of the chat and notifies about changes. */
import { rewriteCommands } from '../../cli/terminal/invocation.ts'
import { type ChatState, INITIAL_STATE } from './chat-state.ts'
import type { Part } from './reply-reducer.ts'
import { EMPTY_TRANSCRIPT, type Note, reduceTranscript, type TranscriptAction } from './transcript-reducer.ts'

export class ChatStore {
  readonly now: () => number
  readonly #onChange: () => void
  #state: ChatState

  constructor(onChange: () => void, now: () => number = Date.now, state: ChatState = INITIAL_STATE) {
    this.#onChange = onChange
    this.now = now
    this.#state = { ...state, now: now() }
  }

  get state(): ChatState {
    return this.#state
  }

  update(change: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...change }
    this.#onChange()
  }

  dispatch = (action: TranscriptAction): void => {
    const transcript = reduceTranscript(this.#state.transcript, action)
    if (transcript === this.#state.transcript) return
    const now = this.now()
    this.update({ transcript, now, waitingSince: now })
  }

  /** Replaces the transcript and the given fields in one update, so that no key is handled between the two. */
  replaceTranscript(actions: readonly TranscriptAction[], change: Partial<ChatState> = {}): void {
    const now = this.now()
    this.update({
      transcript: actions.reduce(reduceTranscript, EMPTY_TRANSCRIPT),
      now,
      waitingSince: now,
      redrawCount: this.#state.redrawCount + 1,
      firstEntry: 0,
      earlierUsage: undefined,
      ...change,
    })
  }

  addNote(text: string, tone: Note['tone'] = 'plain'): void {
    this.dispatch({ kind: 'noted', text: rewriteCommands(text), tone })
  }

  announceConversation(text: string): void {
    this.dispatch({ kind: 'noted', text, startsConversation: true })
  }

  addMarkdown(markdown: string): void {
    this.dispatch({ kind: 'noted', text: markdown, markdown: true })
  }

  /** Adds parts of the last reply in full, unless they are the last entry already. */
  addDetails(details: readonly Part[]): void {
    const last = this.#state.transcript.entries.at(-1)
    if (last?.kind === 'note' && last.details?.[0] === details[0]) return
    this.dispatch({ kind: 'noted', text: 'Details of the last reply:', details })
  }

  clearScreen(): void {
    this.update({ clearCount: this.#state.clearCount + 1 })
  }
}
