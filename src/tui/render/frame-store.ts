/** Holds the current frame for React, and the text to write above it. */
import type { Frame } from './frame-builder.ts'

/** Keeps the scrollback. */
const CLEAR_SCREEN = '\u001b[2J\u001b[H'

type LiveArea = Pick<Frame, 'lines' | 'cursor'>

export class FrameStore {
  readonly #listeners = new Set<() => void>()
  #liveArea: LiveArea = { lines: [], cursor: undefined }
  #history: string | undefined

  publish({ isFullRedraw, history, ...liveArea }: Frame): void {
    const text = history.map((line) => `${line}\n`).join('')
    // Keeps text that is not written yet, unless everything is redrawn.
    if (isFullRedraw) this.#history = CLEAR_SCREEN + text
    else if (text !== '') this.#history = (this.#history ?? '') + text
    this.#liveArea = liveArea
    for (const onChange of this.#listeners) onChange()
  }

  subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange)
    return () => this.#listeners.delete(onChange)
  }

  getLiveArea = (): LiveArea => this.#liveArea

  /** Returns the text to write above the live area since the last call. */
  takeHistory = (): string | undefined => {
    const history = this.#history
    this.#history = undefined
    return history
  }
}
