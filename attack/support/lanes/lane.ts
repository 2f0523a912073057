/** A process that runs scenarios one after another, so that those of two lanes use two cores and share no event loop. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Outcome, ScenarioOptions } from '../scenario.ts'

const PROGRAM = fileURLToPath(new URL('lane-process.ts', import.meta.url))

export interface Task extends ScenarioOptions {
  /** Of the scenario. */
  name: string
}

export class Lane {
  #child: ChildProcess | undefined

  /** A scenario that fails, or ends its process, has broken its promise. */
  async run(task: Task): Promise<Outcome> {
    this.#child ??= fork(PROGRAM)
    const child = this.#child
    const ended = once(child, 'exit').then(([code, signal]) => {
      this.#child = undefined
      return describeFailure(`its process exited (${code ?? signal})`)
    })
    const answered = once(child, 'message').then(([outcome]) => outcome as Outcome)
    child.send(task)
    return Promise.race([answered, ended])
  }

  close(): void {
    this.#child?.kill()
  }
}

export const describeFailure = (reason: string): Outcome => ({ amount: '', figure: 'the scenario failed', violations: [reason] })
