/** Whose turn it is in a conversation: one message at a time; the others are refused, or wait in line if they asked to. */
import { CadreError } from '../../src/contract/errors.ts'

const LONGEST_LINE = 20

interface Waiting {
  proceed(): void
  refuse(reason: unknown): void
}

export class Turns {
  /** The line behind whoever has the turn; without an entry nobody has it. */
  readonly #lines = new Map<string, Waiting[]>()
  #closed = false

  /** Gives what ends the turn. */
  async take(conversationId: string, wait: boolean, signal: AbortSignal): Promise<() => void> {
    if (this.#closed) throw stopping()
    const line = this.#lines.get(conversationId)
    if (!line) {
      this.#lines.set(conversationId, [])
      return this.#end(conversationId)
    }
    if (!wait) throw busy('Another message of this conversation is being answered.', 'Wait for its reply, or send wait: true to be answered after it.')
    if (line.length >= LONGEST_LINE) throw busy(`${LONGEST_LINE} messages of this conversation wait already.`, 'Wait for their replies.')
    await inLine(line, signal)
    return this.#end(conversationId)
  }

  /** Nobody gets a turn any more. */
  close(): void {
    this.#closed = true
    for (const line of this.#lines.values()) for (const { refuse } of line.splice(0)) refuse(stopping())
  }

  #end(conversationId: string): () => void {
    let ended = false
    return () => {
      if (ended) return
      ended = true
      const next = this.#lines.get(conversationId)?.shift()
      if (next) next.proceed()
      else this.#lines.delete(conversationId)
    }
  }
}

async function inLine(line: Waiting[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let left = () => {}
  try {
    await new Promise<void>((proceed, refuse) => {
      const place = { proceed, refuse }
      line.push(place)
      left = () => {
        const at = line.indexOf(place)
        if (at >= 0) line.splice(at, 1)
        refuse(signal.reason)
      }
      signal.addEventListener('abort', left)
    })
  } finally {
    signal.removeEventListener('abort', left)
  }
}

const busy = (message: string, hint: string) => new CadreError('CONFLICT', message, { hint })
export const stopping = () => new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'Try again in a moment.' })
