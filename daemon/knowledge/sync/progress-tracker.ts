/** Progress and results of syncs, with subscriptions. */
import { EventEmitter } from 'node:events'
import type { Static } from 'typebox'
import type { SyncChanges, SyncProgress } from '../../../src/contract/families/knowledge-sources.ts'

export type Progress = Static<typeof SyncProgress>
export type Changes = Static<typeof SyncChanges>
type ProgressListener = (progress: Progress | undefined) => void

export class ProgressTracker {
  readonly #current = new Map<string, Progress>()
  readonly #changes = new Map<string, Changes>()
  /** An event of each source has its progress. */
  readonly #events = new EventEmitter().setMaxListeners(0)
  /** Called with each change of any source. */
  onChange: ((sourceId: string) => void) | undefined

  get(sourceId: string): Progress | undefined {
    return this.#current.get(sourceId)
  }

  /** Returns the changes made by the running sync, or by the last one. */
  getChanges(sourceId: string): Changes | undefined {
    return this.#changes.get(sourceId)
  }

  resetChanges(sourceId: string): void {
    this.#changes.set(sourceId, { read: 0, unreadable: 0, gone: 0, embedded: 0 })
  }

  countChange(sourceId: string, kind: keyof Changes, count = 1): void {
    const changes = this.#changes.get(sourceId)
    if (changes) changes[kind] += count
  }

  forgetChanges(sourceId: string): void {
    this.#changes.delete(sourceId)
  }

  begin(sourceId: string): void {
    const started_at = new Date().toISOString()
    this.#set(sourceId, { stage: 'finding', documents: 0, documents_total: null, chunks: 0, chunks_total: 0, started_at })
  }

  update(sourceId: string, change: Partial<Progress>): void {
    const current = this.#current.get(sourceId)
    if (current) this.#set(sourceId, { ...current, ...change })
  }

  end(sourceId: string): void {
    this.#current.delete(sourceId)
    this.#notify(sourceId, undefined)
  }

  /** Calls the listener with each change, and with undefined when the sync ends. Returns a function that unsubscribes. */
  subscribe(sourceId: string, listener: ProgressListener): () => void {
    this.#events.on(sourceId, listener)
    return () => void this.#events.off(sourceId, listener)
  }

  #set(sourceId: string, progress: Progress): void {
    this.#current.set(sourceId, progress)
    this.#notify(sourceId, progress)
  }

  #notify(sourceId: string, progress: Progress | undefined): void {
    this.onChange?.(sourceId)
    this.#events.emit(sourceId, progress)
  }
}
