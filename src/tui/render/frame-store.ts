/** The frame that is shown, for React, and what is written above it. */
import type { FrameSource } from './chat-view.tsx'
import type { Frame } from './frame-builder.ts'

/** The terminal's history stays. */
const CLEAR_SCREEN = '\u001b[2J\u001b[H'

type LiveArea = Pick<Frame, 'lines' | 'cursor'>

export class FrameStore implements FrameSource {
  readonly #listeners = new Set<() => void>()
  #liveArea: LiveArea = { lines: [], cursor: undefined }
  #history: string | undefined

  publish({ isFullRedraw: anew, history, ...alive }: Frame): void {
    const text = history.map((line) => `${line}\n`).join('')
    // What was not written yet is not lost, unless all is drawn anew.
    if (anew) this.#history = CLEAR_SCREEN + text
    else if (text !== '') this.#history = (this.#history ?? '') + text
    this.#liveArea = alive
    for (const changed of this.#listeners) changed()
  }

  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  getLiveArea = (): LiveArea => this.#liveArea

  takeHistory = (): string | undefined => {
    const above = this.#history
    this.#history = undefined
    return above
  }
}
