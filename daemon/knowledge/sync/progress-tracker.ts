/** How far a synchronization is and what it came to, for whoever asks and whoever follows. */
import type { Static } from 'typebox'
import type { SyncChanges, SyncProgress } from '../../../src/contract/families/knowledge-sources.ts'

export type Progress = Static<typeof SyncProgress>
export type Changes = Static<typeof SyncChanges>
export type ProgressListener = (progress: Progress | undefined) => void

export class ProgressTracker {
  readonly #current = new Map<string, Progress>()
  readonly #getChanges = new Map<string, Changes>()
  readonly #listeners = new Map<string, Set<ProgressListener>>()

  get(sourceId: string): Progress | undefined {
    return this.#current.get(sourceId)
  }

  /** What the last synchronization came to, or the one under way so far. */
  changes(sourceId: string): Changes | undefined {
    return this.#getChanges.get(sourceId)
  }

  /** Counts from nothing: another synchronization begins. */
  resetChanges(sourceId: string): void {
    this.#getChanges.set(sourceId, { read: 0, unreadable: 0, gone: 0, embedded: 0 })
  }

  countChange(sourceId: string, what: keyof Changes, number = 1): void {
    const changes = this.#getChanges.get(sourceId)
    if (changes) changes[what] += number
  }

  forgetChanges(sourceId: string): void {
    this.#getChanges.delete(sourceId)
  }

  begin(sourceId: string): void {
    this.#set(sourceId, {
      stage: 'finding',
      documents: 0,
      documents_total: null,
      chunks: 0,
      chunks_total: 0,
      started_at: new Date().toISOString(),
    })
  }

  update(sourceId: string, change: Partial<Progress>): void {
    const current = this.#current.get(sourceId)
    if (current) this.#set(sourceId, { ...current, ...change })
  }

  end(sourceId: string): void {
    this.#current.delete(sourceId)
    this.#notify(sourceId, undefined)
  }

  /** Calls back at every change, and with undefined at the end; returns how to stop. */
  subscribe(sourceId: string, listener: ProgressListener): () => void {
    const listeners = this.#listeners.get(sourceId) ?? new Set()
    this.#listeners.set(sourceId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(sourceId)
    }
  }

  #set(sourceId: string, progress: Progress): void {
    this.#current.set(sourceId, progress)
    this.#notify(sourceId, progress)
  }

  #notify(sourceId: string, progress: Progress | undefined): void {
    for (const listener of this.#listeners.get(sourceId) ?? []) listener(progress)
  }
}
