/** Runs work that others wrote the rules of, such as a regular expression, and ends it in the middle when it takes too long. */
import { createContext, Script } from 'node:vm'

export class CpuTimeLimitError extends Error {}

/** The milliseconds are of work, not of waiting for a processor that others keep busy. */
export type CpuTimeLimiter = <T>(milliseconds: number, work: () => T) => T

/** On a machine so busy that it gets no processor, work is begun again this often. */
const MAX_ATTEMPTS = 10

/** Only Node's vm can end synchronous work of its own thread; the work still runs with everything it refers to. */
export function createCpuTimeLimiter(): CpuTimeLimiter {
  const place: { work?: () => unknown } = createContext({})
  const script = new Script('work()')
  return <T>(milliseconds: number, work: () => T): T => {
    place.work = work
    try {
      for (let attempt = 1; ; attempt++) {
        const begun = process.cpuUsage()
        try {
          return script.runInContext(place, { timeout: milliseconds }) as T
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
          const { user, system } = process.cpuUsage(begun)
          if ((user + system) / 1000 > milliseconds / 2 || attempt === MAX_ATTEMPTS)
            throw new CpuTimeLimitError(`It took longer than ${milliseconds} ms.`, { cause: error })
        }
      }
    } finally {
      delete place.work
    }
  }
}
