/** Measures the stages of a search in milliseconds. */

export class StageTimer {
  readonly #startedAt = performance.now()
  readonly #stages = new Map<string, number>()

  /** Of concurrent runs of a stage, the longest counts. */
  async measure<T>(stage: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      this.#stages.set(stage, Math.max(this.#stages.get(stage) ?? 0, performance.now() - startedAt))
    }
  }

  getTimings(): Record<string, number> {
    const round = (ms: number) => Math.round(ms * 100) / 100
    return {
      ...Object.fromEntries([...this.#stages].map(([stage, ms]) => [stage, round(ms)])),
      total: round(performance.now() - this.#startedAt),
    }
  }
}
