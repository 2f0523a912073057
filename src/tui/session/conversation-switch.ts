/** Moving the chat to another conversation, agent, model or list. Keys pressed before it has arrived wait for it: what they mean depends on where it arrives. */

import type { Key } from '../input/key-decoder.ts'
import type { ChatStore } from '../state/chat-store.ts'

const HINT_DELAY_MS = 300
const WAITING_HINT = 'One moment. Esc gives up.'

interface HeldKey {
  key: Key
  press: () => void
}

export class ConversationSwitch {
  readonly #store: ChatStore
  #current: AbortController | undefined
  #heldKeys: HeldKey[] = []

  constructor(desk: ChatStore) {
    this.#store = desk
  }

  /** Runs a change. The picker it was chosen from stays open until then. `work` must check the signal right before it changes any state. */
  async run(work: (signal: AbortSignal) => void | Promise<void>): Promise<void> {
    const desk = this.#store
    const current = new AbortController()
    this.#current = current
    const { panel } = desk.state
    const slow = setTimeout(() => desk.update({ hint: WAITING_HINT }), HINT_DELAY_MS)
    let arrived = false
    try {
      await Promise.race([work(current.signal), waitForAbort(current.signal)])
      arrived = !current.signal.aborted
    } catch (error) {
      if (!current.signal.aborted) throw error
    } finally {
      clearTimeout(slow)
      this.#current = undefined
      if (desk.state.hint === WAITING_HINT) desk.update({ hint: undefined })
      if (panel && desk.state.panel === panel) desk.update({ panel: undefined })
      this.#release(arrived)
    }
  }

  /** Whether the key has to wait; it is pressed again afterwards. */
  holdKey(key: Key, press: () => void): boolean {
    if (!this.#current) return false
    if (key.name === 'escape') this.cancel()
    else this.#heldKeys.push({ key, press })
    return true
  }

  cancel(): void {
    this.#current?.abort()
  }

  /** If the change failed, typed text is kept in the input but not sent: it was meant for somewhere else. */
  #release(arrived: boolean): void {
    const held = this.#heldKeys
    this.#heldKeys = []
    for (const { key, press } of held) {
      if (!arrived && key.name === 'enter') return
      if (arrived || isText(key)) press()
    }
  }
}

const isText = ({ name, ctrl, alt }: Key) => name === 'paste' || (name === 'text' && !ctrl && !alt)

const waitForAbort = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
