/** One HTTP request to the service, over Node's own fetch: bearer token, waiting out rate limits, and unreachable told apart from refused. */
import { setTimeout as wait } from 'node:timers/promises'
import { UnreachableError } from './failures.ts'

export interface Connection {
  /** Root address of the service, without /api. */
  url: string
  token: string | undefined
  /** Tells the person at the terminal what is happening. */
  narrate: (line: string) => void
}

export interface Sent {
  method: string
  /** Path and query, from /api on. */
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  signal?: AbortSignal
}

const MOST_ATTEMPTS = 4
const LONGEST_WAIT_SECONDS = 90

export async function send(connection: Connection, sent: Sent): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await once(connection, sent)
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    const worthWaiting = response.status === 429 && attempt < MOST_ATTEMPTS && seconds >= 0 && seconds <= LONGEST_WAIT_SECONDS
    if (!worthWaiting) return response
    await response.body?.cancel()
    connection.narrate(`The rate limit is reached; trying again in ${seconds} s.`)
    await wait(seconds * 1000, undefined, sent.signal ? { signal: sent.signal } : {})
  }
}

async function once(connection: Connection, sent: Sent): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json', ...(connection.token ? { authorization: `Bearer ${connection.token}` } : {}), ...sent.headers }
  const { method, body, signal } = sent
  try {
    return await fetch(`${connection.url}${sent.path}`, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }), ...(signal ? { signal } : {}) })
  } catch (error) {
    if (signal?.aborted) throw error
    const cause = (error as Error).cause as { code?: string; message?: string } | undefined
    const why = cause?.code ?? cause?.message ?? (error as Error).message
    throw new UnreachableError(`Nothing answers at ${connection.url} (${why}).`, { hint: 'cadre daemon status shows what is running; cadre daemon start starts it.', cause: error })
  }
}
