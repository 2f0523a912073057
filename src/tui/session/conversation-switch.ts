/** Switches the chat to another conversation, agent, model or list, and holds keys back until the switch is complete. */
import { once } from 'node:events'
import type { Key } from '../input/key-decoder.ts'
import type { ChatStore } from '../state/chat-store.ts'

const HINT_DELAY_MS = 300
const WAITING_HINT = 'Loading. Press Esc to cancel.'

export class ConversationSwitch {
  readonly #store: ChatStore
  #current: AbortController | undefined
  #heldKeys: { key: Key; press: () => void }[] = []

  constructor(store: ChatStore) {
    this.#store = store
  }

  /** Runs a switch. An open picker stays open until it is complete. `work` must check the signal right before it changes any state. */
  async run(work: (signal: AbortSignal) => void | Promise<void>): Promise<void> {
    const store = this.#store
    const current = new AbortController()
    this.#current = current
    const { panel } = store.state
    const hintTimer = setTimeout(() => store.update({ hint: WAITING_HINT }), HINT_DELAY_MS)
    let isComplete = false
    try {
      await Promise.race([work(current.signal), once(current.signal, 'abort')])
      isComplete = !current.signal.aborted
    } catch (error) {
      if (!current.signal.aborted) throw error
    } finally {
      clearTimeout(hintTimer)
      this.#current = undefined
      if (store.state.hint === WAITING_HINT) store.update({ hint: undefined })
      if (panel && store.state.panel === panel) store.update({ panel: undefined })
      this.#release(isComplete)
    }
  }

  /** Returns whether the key is held back; it is pressed again after the switch. */
  holdKey(key: Key, press: () => void): boolean {
    if (!this.#current) return false
    if (key.name === 'escape') this.cancel()
    else this.#heldKeys.push({ key, press })
    return true
  }

  cancel(): void {
    this.#current?.abort()
  }

  /** After a failed switch, typed text stays in the input but is not sent: it was meant for another conversation. */
  #release(isComplete: boolean): void {
    const heldKeys = this.#heldKeys
    this.#heldKeys = []
    for (const { key, press } of heldKeys) {
      if (!isComplete && key.name === 'enter') return
      if (isComplete || isText(key)) press()
    }
  }
}

const isText = ({ name, ctrl, alt }: Key) => name === 'paste' || (name === 'text' && !ctrl && !alt)
