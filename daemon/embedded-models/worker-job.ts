/** The tasks of one call and their results so far. */
import type { WorkerResult, WorkerTask } from './worker-protocol.ts'

export class WorkerJob {
  readonly tasks: readonly WorkerTask[]
  readonly isUrgent: boolean
  readonly results: Promise<WorkerResult[]>
  readonly #results: WorkerResult[]
  readonly #onProgress: ((done: number) => void) | undefined
  #taken = 0
  #done = 0
  #resolve: (results: WorkerResult[]) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(tasks: readonly WorkerTask[], isUrgent: boolean, onProgress?: (done: number) => void) {
    this.#onProgress = onProgress
    this.tasks = tasks
    this.isUrgent = isUrgent
    this.#results = new Array<WorkerResult>(tasks.length)
    this.results = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Number of tasks without a result. */
  get remaining(): number {
    return this.tasks.length - this.#done
  }

  get hasNext(): boolean {
    return this.#taken < this.tasks.length
  }

  /** Returns the index of the next task. */
  takeNext(): number {
    return this.#taken++
  }

  setResult(index: number, result: WorkerResult): void {
    this.#results[index] = result
    this.#done++
    this.#onProgress?.(this.#done)
  }

  finish(error?: unknown): void {
    if (error === undefined) this.#resolve(this.#results)
    else this.#reject(error)
  }
}
