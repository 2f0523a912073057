/** A process that runs scenarios one after another, so that those of several lanes use all cores and share no event loop. */
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
  #ended: Promise<Outcome> | undefined

  /** A scenario that fails, or ends its process, has broken its promise. */
  async run(task: Task): Promise<Outcome> {
    const child = this.#child ?? this.#start()
    const answered = once(child, 'message').then(([outcome]) => outcome as Outcome)
    child.send(task)
    return Promise.race([answered, this.#ended as Promise<Outcome>])
  }

  #start(): ChildProcess {
    const child = fork(PROGRAM)
    this.#child = child
    this.#ended = once(child, 'exit').then(([code, signal]) => {
      this.#child = undefined
      return describeFailure(`its process exited (${code ?? signal})`)
    })
    return child
  }

  close(): void {
    this.#child?.kill()
  }
}

export const describeFailure = (reason: string): Outcome => ({ amount: '', figure: 'the scenario failed', violations: [reason] })
