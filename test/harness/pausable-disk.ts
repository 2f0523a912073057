/** A disk that takes its time: others read what is committed while whoever wrote it still waits to hear that it is there for good. */
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openWriteAheadLog, type WriteAheadLog } from '../../daemon/store/write-ahead-log.ts'

export class PausableDisk {
  /** Thrown instead of saying that it is there for good. */
  failure: Error | undefined
  #held = false
  readonly #waiting: (() => void)[] = []

  readonly open = (databasePath: string): WriteAheadLog => {
    const log = openWriteAheadLog(databasePath)
    return {
      flush: async () => {
        await log.flush()
        if (this.failure) throw this.failure
        if (this.#held) await new Promise<void>((resolve) => this.#waiting.push(resolve))
      },
      close: () => log.close(),
    }
  }

  hold(): void {
    this.#held = true
  }

  release(): void {
    this.#held = false
    for (const proceed of this.#waiting.splice(0)) proceed()
  }

  /** Lets one commit after the other through until the work makes the condition hold, and stops there: right after the commit that made it so. */
  async holdAt(work: Promise<unknown>, condition: () => Promise<boolean>): Promise<void> {
    let refused: { reason: unknown } | undefined
    work.catch((reason: unknown) => {
      refused = { reason }
    })
    this.hold()
    while (!(await condition())) {
      if (refused) throw refused.reason
      this.#waiting.shift()?.()
      await pause(5)
    }
  }
}

/** What a kill would leave of a home just now. */
export function copyHome(home: string): string {
  const copy = join(mkdtempSync(join(tmpdir(), 'cadre-killed-')), 'home')
  cpSync(home, copy, { recursive: true })
  return copy
}
