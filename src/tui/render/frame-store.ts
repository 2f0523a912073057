/** Holds the current frame for React, and the text to write above it. */
import type { Frame } from './frame-builder.ts'

const CLEAR_SEQUENCES = {
  /** Erases from the last cell to the first. Unlike \\e[2J, this does not copy the screen to the scrollback of tmux and others. */
  erase: '\u001b[999;999H\u001b[1J\u001b[H',
  clear: '\u001b[H\u001b[2J',
}

type LiveArea = Pick<Frame, 'lines' | 'cursor'>

export class FrameStore {
  readonly #listeners = new Set<() => void>()
  #liveArea: LiveArea = { lines: [], cursor: undefined }
  readonly #write: (text: string) => void
  #history: string | undefined

  /** `write` writes to the terminal before the frame. */
  constructor(write: (text: string) => void) {
    this.#write = write
  }

  publish({ clear, erase, history, ...liveArea }: Frame): void {
    const text = history.map((line) => `${line}\n`).join('')
    // Keeps text that is not written yet, unless the transcript was replaced. After erasing, even an unchanged live area is drawn.
    if (clear) this.#history = (clear === 'clear' ? (this.#history ?? '') : '') + CLEAR_SEQUENCES[clear] + text
    else if (text !== '' || erase !== undefined) this.#history = (this.#history ?? '') + text
    if (erase !== undefined) this.#write(erase)
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
