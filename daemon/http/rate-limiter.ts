/** Limits the requests per minute of each token and creates the rate limit headers. */
import { CadreError } from '../../src/contract/errors.ts'
import type { SharedCounts } from '../cluster/cluster.ts'

const WINDOW_MS = 60_000
/** Requests over the limit that are refused at once, for clients that send several at a time and then wait. */
const PROMPT_REFUSALS = 20
/** How long further ones wait: without it, a client that repeats them at once keeps the daemon busy with refusals. */
const REFUSAL_DELAY_MS = 1_000

interface Window {
  used: number
  ends: number
  /** Requests of this window that other daemons answered. */
  usedElsewhere: number
  /** How many of `used` the other daemons know. */
  reported: number
}

interface RateLimitResult {
  headers: Record<string, string | number>
  error: CadreError | undefined
  /** How long to wait before sending the error. */
  delayMs?: number
}

export class RateLimiter implements SharedCounts {
  readonly windowMs = WINDOW_MS
  readonly #limit: number
  readonly #now: () => number
  readonly #windows = new Map<string, Window>()
  #sweptAt = 0

  /**
   * A limit of 0 disables the limiter.
   * @param now milliseconds of a clock that never goes back: with the wall clock, a jump by an hour would lock everyone out for an hour
   */
  constructor(limit: number, now: () => number = () => performance.now()) {
    this.#limit = limit
    this.#now = now
  }

  /** @param limit requests per minute of this key */
  consume(key: string, limit: number = this.#limit): RateLimitResult {
    if (limit === 0) return { headers: {}, error: undefined }
    // Whole milliseconds, because the end of a window minus its start is not exact with fractions.
    const now = Math.floor(this.#now())
    this.#sweep(now)
    let window = this.#windows.get(key)
    if (!window || window.ends <= now) {
      window = { used: 0, ends: now + WINDOW_MS, usedElsewhere: 0, reported: 0 }
      this.#windows.set(key, window)
    }
    window.used++
    const used = window.used + window.usedElsewhere
    const left = Math.max(0, limit - used)
    const reset = Math.ceil((window.ends - now) / 1000)
    const headers: RateLimitResult['headers'] = {
      'x-ratelimit-limit': limit,
      'x-ratelimit-remaining': left,
      'x-ratelimit-reset': reset,
      'ratelimit-policy': `"default";q=${limit};w=60`,
      ratelimit: `"default";r=${left};t=${reset}`,
    }
    if (used <= limit) return { headers, error: undefined }
    headers['retry-after'] = reset
    return {
      headers,
      delayMs: used - limit > PROMPT_REFUSALS ? REFUSAL_DELAY_MS : 0,
      error: new CadreError('RATE_LIMITED', `Rate limit exceeded: ${limit} requests per minute.`, {
        hint: `Retry in ${reset} s, or start the daemon with a higher CADRE_RATE_LIMIT.`,
      }),
    }
  }

  takeUnreported(): { key: string; count: number }[] {
    const counts: { key: string; count: number }[] = []
    for (const [key, window] of this.#windows) {
      if (window.used === window.reported) continue
      counts.push({ key, count: window.used - window.reported })
      window.reported = window.used
    }
    return counts
  }

  setReported(key: string, total: number, leftMs: number): void {
    const window = this.#windows.get(key)
    if (!window) return
    window.usedElsewhere = Math.max(0, total - window.reported)
    window.ends = Math.floor(this.#now()) + leftMs
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < WINDOW_MS) return
    this.#sweptAt = now
    for (const [key, window] of this.#windows) if (window.ends <= now) this.#windows.delete(key)
  }
}
