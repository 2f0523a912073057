/** Finds changes of a folder by listing it again and again, for folders that cannot be watched. */
import { hash } from 'node:crypto'
import { createSelection, type Selection } from '../../../../src/files/selection.ts'
import { type Clock, systemClock } from '../../../async/clock.ts'
import { resolveFolder } from './find-folder-files.ts'
import { walkFolder } from './walk-folder.ts'

const INTERVAL_MS = 30_000
/** Listing a large folder takes at most this share of the time. */
const MAX_SHARE = 0.05

interface FolderPollerOptions {
  configuration: Record<string, unknown>
  onChange: () => void
  /** Called when a folder that was missing can be listed again. */
  onReturn: () => void
  /** Whether the folder is missing now. */
  isMissing: boolean
  clock?: Clock
}

export class FolderPoller {
  readonly #options: FolderPollerOptions
  readonly #clock: Clock
  readonly #selection: Selection
  readonly #closed = new AbortController()
  /** Undefined before the first list, null if the folder is missing. */
  #state: string | null | undefined
  #cancelTimer = () => {}

  constructor(options: FolderPollerOptions) {
    this.#options = options
    this.#state = options.isMissing ? null : undefined
    this.#clock = options.clock ?? systemClock
    this.#selection = createSelection(options.configuration)
  }

  /** Lists the folder, then repeats that until the poller is closed. */
  async start(): Promise<void> {
    const startedAt = performance.now()
    const state = await this.#readState()
    if (this.#closed.signal.aborted) return
    const before = this.#state
    this.#state = state
    if (before === null && state !== null) this.#options.onReturn()
    else if (before !== undefined && state !== null && state !== before) this.#options.onChange()
    if (this.#closed.signal.aborted) return
    const wait = Math.max(INTERVAL_MS, (performance.now() - startedAt) / MAX_SHARE)
    this.#cancelTimer = this.#clock.schedule(wait, () => void this.start())
  }

  close(): void {
    this.#closed.abort()
    this.#cancelTimer()
  }

  /** Returns a hash of the names and fingerprints of all files. */
  async #readState(): Promise<string | null> {
    try {
      const { path, gitignore } = this.#options.configuration as { path: string; gitignore?: boolean }
      const root = await resolveFolder(path)
      const walked = walkFolder({ root, selection: this.#selection, gitignore: gitignore !== false, signal: this.#closed.signal })
      let state = ''
      let lines: string[] = []
      for await (const { name, fingerprint, problem = '' } of walked) {
        lines.push(`${name}\n${fingerprint}\n${problem}`)
        if (lines.length < 1_000) continue
        state = hash('sha256', `${state}\n${lines.join('\n')}`, 'hex')
        lines = []
      }
      return hash('sha256', `${state}\n${lines.join('\n')}`, 'hex')
    } catch {
      return null // removed, unmounted or without permission: a sync reports the reason
    }
  }
}
