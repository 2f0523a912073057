/** The frame that is shown, for React, and what is written above it. */
import type { FrameSource } from './chat-view.tsx'
import type { Frame } from './frame-builder.ts'

/** The terminal's history stays. */
const EMPTY_SCREEN = '\u001b[2J\u001b[H'

type Alive = Pick<Frame, 'lines' | 'cursor'>

export class Showing implements FrameSource {
  readonly #listeners = new Set<() => void>()
  #alive: Alive = { lines: [], cursor: undefined }
  #above: string | undefined

  show({ anew, history, ...alive }: Frame): void {
    const text = history.map((line) => `${line}\n`).join('')
    // What was not written yet is not lost, unless all is drawn anew.
    if (anew) this.#above = EMPTY_SCREEN + text
    else if (text !== '') this.#above = (this.#above ?? '') + text
    this.#alive = alive
    for (const changed of this.#listeners) changed()
  }

  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  current = (): Alive => this.#alive

  taken = (): string | undefined => {
    const above = this.#above
    this.#above = undefined
    return above
  }
}
