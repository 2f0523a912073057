/** Runs synchronous work of unknown cost, such as a user's regular expression, with a CPU time limit. */
import { createContext, Script } from 'node:vm'

export class CpuTimeLimitError extends Error {}

/** The limit counts CPU time, not time spent waiting for a busy processor. */
type CpuTimeLimiter = <T>(milliseconds: number, work: () => T) => T

/** How often work is restarted when the machine is too busy to run it. */
const MAX_ATTEMPTS = 10

/** Uses node:vm because nothing else can interrupt synchronous work on the same thread. The work keeps its closure. */
export function createCpuTimeLimiter(): CpuTimeLimiter {
  const sandbox: { work?: () => unknown } = createContext({})
  const script = new Script('work()')
  return <T>(milliseconds: number, work: () => T): T => {
    sandbox.work = work
    try {
      for (let attempt = 1; ; attempt++) {
        const cpuBefore = process.cpuUsage()
        try {
          return script.runInContext(sandbox, { timeout: milliseconds }) as T
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
          const { user, system } = process.cpuUsage(cpuBefore)
          if ((user + system) / 1000 > milliseconds / 2 || attempt === MAX_ATTEMPTS)
            throw new CpuTimeLimitError(`It took longer than ${milliseconds} ms.`, { cause: error })
        }
      }
    } finally {
      delete sandbox.work
    }
  }
}
