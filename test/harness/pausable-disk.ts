/** A disk whose flushes can be paused: committed rows are readable while their writer still waits for the flush. */
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWriteAheadLog, type WriteAheadLog } from '../../daemon/store/write-ahead-log.ts'
import { waitFor } from './wait-for.ts'

export class PausableDisk {
  /** Thrown by every flush. */
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

  /** Releases one flush at a time until the condition holds, and pauses right after the commit that fulfilled it. */
  async holdAt(work: Promise<unknown>, condition: () => Promise<boolean>): Promise<void> {
    let failure: { reason: unknown } | undefined
    work.catch((reason: unknown) => {
      failure = { reason }
    })
    this.hold()
    const step = async () => {
      if (await condition()) return true
      if (failure) throw failure.reason
      this.#waiting.shift()?.()
      return false
    }
    await waitFor(step, { intervalMs: 5, description: String(condition) })
  }
}

/** Copies a home as a kill would leave it now. */
export function copyHome(home: string): string {
  const copy = join(mkdtempSync(join(tmpdir(), 'cadre-killed-')), 'home')
  cpSync(home, copy, { recursive: true })
  return copy
}
