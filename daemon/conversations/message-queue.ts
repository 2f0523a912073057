/** Whose turn it is in a conversation: one message at a time; the others are refused, or wait in line if they asked to. */
import { CadreError } from '../../src/contract/errors.ts'

const LONGEST_LINE = 20

interface Waiting {
  proceed(): void
  refuse(reason: unknown): void
}

interface Line {
  /** Whether all that is left of the turn is to store how it went. */
  storing: boolean
  waiting: Waiting[]
}

export interface Turn {
  /** The reply is about to be stored: others may read its end before we hear that it is on disk, and send the next message. */
  storing(): void
  end(): void
}

export class Turns {
  /** The line behind whoever has the turn; without an entry nobody has it. */
  readonly #lines = new Map<string, Line>()
  #closed = false

  async take(conversationId: string, wait: boolean, signal: AbortSignal): Promise<Turn> {
    if (this.#closed) throw stopping()
    const line = this.#lines.get(conversationId)
    if (!line) return this.#begin(conversationId, { storing: false, waiting: [] })
    const { waiting } = line
    if (!wait && !(line.storing && waiting.length === 0))
      throw busy(
        'Another message of this conversation is being answered.',
        'Wait for its reply, or send wait: true to be answered after it.',
      )
    if (waiting.length >= LONGEST_LINE) throw busy(`${LONGEST_LINE} messages of this conversation wait already.`, 'Wait for their replies.')
    await inLine(waiting, signal)
    return this.#begin(conversationId, line)
  }

  /** Nobody gets a turn any more. */
  close(): void {
    this.#closed = true
    for (const { waiting } of this.#lines.values()) for (const { refuse } of waiting.splice(0)) refuse(stopping())
  }

  #begin(conversationId: string, line: Line): Turn {
    this.#lines.set(conversationId, line)
    line.storing = false
    let ended = false
    return {
      storing: () => {
        line.storing = !ended
      },
      end: () => {
        if (ended) return
        ended = true
        const next = line.waiting.shift()
        if (next) next.proceed()
        else this.#lines.delete(conversationId)
      },
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
