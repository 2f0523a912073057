/** Moving the chat to another conversation, agent, model or list. Keys pressed before it has arrived wait for it: what they mean depends on where it arrives. */

import type { Key } from '../input/parse-keys.ts'
import type { Desk } from '../state/chat-store.ts'

const SLOW_MS = 300
const WAITING = 'One moment. Esc gives up.'

interface Held {
  key: Key
  press: () => void
}

export class Changing {
  readonly #desk: Desk
  #current: AbortController | undefined
  #held: Held[] = []

  constructor(desk: Desk) {
    this.#desk = desk
  }

  /** Runs a change. The picker it was chosen from stays open until then. `work` must check the signal right before it changes any state. */
  async run(work: (signal: AbortSignal) => void | Promise<void>): Promise<void> {
    const desk = this.#desk
    const current = new AbortController()
    this.#current = current
    const { panel } = desk.state
    const slow = setTimeout(() => desk.update({ hint: WAITING }), SLOW_MS)
    let arrived = false
    try {
      await Promise.race([work(current.signal), aborted(current.signal)])
      arrived = !current.signal.aborted
    } catch (error) {
      if (!current.signal.aborted) throw error
    } finally {
      clearTimeout(slow)
      this.#current = undefined
      if (desk.state.hint === WAITING) desk.update({ hint: undefined })
      if (panel && desk.state.panel === panel) desk.update({ panel: undefined })
      this.#release(arrived)
    }
  }

  /** Whether the key has to wait; it is pressed again afterwards. */
  holds(key: Key, press: () => void): boolean {
    if (!this.#current) return false
    if (key.name === 'escape') this.giveUp()
    else this.#held.push({ key, press })
    return true
  }

  giveUp(): void {
    this.#current?.abort()
  }

  /** If the change failed, typed text is kept in the input but not sent: it was meant for somewhere else. */
  #release(arrived: boolean): void {
    const held = this.#held
    this.#held = []
    for (const { key, press } of held) {
      if (!arrived && key.name === 'enter') return
      if (arrived || isTyped(key)) press()
    }
  }
}

const isTyped = ({ name, ctrl, alt }: Key) => name === 'paste' || (name === 'text' && !ctrl && !alt)

const aborted = (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
