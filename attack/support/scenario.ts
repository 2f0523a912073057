/** A scenario attacks the build and reports whether a promise was kept. */

export interface ScenarioOptions {
  /** Multiplies all amounts. 1 for the complete run. */
  scale: number
  /** Makes random choices repeatable. */
  seed: number
}

export interface Outcome {
  /** What was done, with its number. */
  amount: string
  /** What was measured. */
  figure: string
  /** Each broken promise, with what is needed to find its cause. */
  violations: readonly string[]
  /** Why the scenario could not run on this machine. */
  skipped?: string
}

export interface Scenario {
  name: string
  /** The sentence in docs/promises.md. */
  promise: string
  /** Measures what other work on the machine would change, such as response times. */
  runsAlone?: boolean
  run(options: ScenarioOptions): Promise<Outcome>
}

/** Scales an amount of the complete run. */
export const scaleAmount = (amount: number, { scale }: ScenarioOptions, least = 1): number => Math.max(least, Math.round(amount * scale))
