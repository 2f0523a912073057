/** Limits how much an MCP server sends within ten seconds, so that it cannot occupy the daemon. */

const WINDOW_MS = 10_000
const MAX_BYTES = 32 * 1024 * 1024
const MAX_MESSAGES = 2_000

export class TrafficLimit {
  #windowStart = 0
  #bytes = 0
  #messages = 0

  /** Returns what was exceeded, if anything. */
  count(bytes: number, messages: number, now = performance.now()): string | undefined {
    if (now - this.#windowStart > WINDOW_MS) {
      this.#windowStart = now
      this.#bytes = 0
      this.#messages = 0
    }
    this.#bytes += bytes
    this.#messages += messages
    if (this.#bytes > MAX_BYTES) return `sent more than ${MAX_BYTES / 1024 / 1024} MB within ${WINDOW_MS / 1000} s`
    return this.#messages > MAX_MESSAGES ? `sent more than ${MAX_MESSAGES} messages within ${WINDOW_MS / 1000} s` : undefined
  }
}
