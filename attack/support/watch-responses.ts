/** Checks during an attack that the daemon answers other clients. */
import { setTimeout as pause } from 'node:timers/promises'
import { TOKEN } from '../../test/harness/daemon.ts'

const INTERVAL_MS = 250
const TIMEOUT_MS = 30_000

export interface ResponseTimes {
  slowestMs: number
  /** Requests that failed or were not answered in time. */
  failures: string[]
}

/** Reads a list regularly until it is stopped. */
export function watchResponses(url: string, token = TOKEN): { times: ResponseTimes; stop(): Promise<ResponseTimes> } {
  const times: ResponseTimes = { slowestMs: 0, failures: [] }
  let isStopped = false
  const watch = async () => {
    while (!isStopped) {
      const startedAt = performance.now()
      try {
        const headers = { authorization: `Bearer ${token}` }
        const response = await fetch(`${url}/api/agents?limit=1`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
        const text = await response.text()
        if (response.status !== 200) times.failures.push(`another client got ${response.status}: ${text.slice(0, 200)}`)
      } catch (error) {
        times.failures.push(`another client got no response: ${(error as Error).cause ?? error}`)
      }
      times.slowestMs = Math.max(times.slowestMs, performance.now() - startedAt)
      await pause(INTERVAL_MS)
    }
  }
  const watching = watch()
  return {
    times,
    async stop() {
      isStopped = true
      await watching
      return times
    },
  }
}

export const formatSlowest = ({ slowestMs }: ResponseTimes): string => `slowest response to others ${Math.round(slowestMs)} ms`
