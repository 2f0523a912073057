/** Whose turn it is in a conversation: one message at a time; the others are refused, or wait in line if they asked to. */
import { CadreError } from '../../src/contract/errors.ts'

const MAX_QUEUE_LENGTH = 20

interface QueuedMessage {
  proceed(): void
  refuse(reason: unknown): void
}

interface Queue {
  /** Whether all that is left of the turn is to store how it went. */
  isStoring: boolean
  waiting: QueuedMessage[]
}

export interface Turn {
  /** The reply is about to be stored: others may read its end before we hear that it is on disk, and send the next message. */
  markStoring(): void
  end(): void
}

export class MessageQueue {
  /** The line behind whoever has the turn; without an entry nobody has it. */
  readonly #queues = new Map<string, Queue>()
  #closed = false

  async acquireTurn(conversationId: string, wait: boolean, signal: AbortSignal): Promise<Turn> {
    if (this.#closed) throw createStoppingError()
    const line = this.#queues.get(conversationId)
    if (!line) return this.#startTurn(conversationId, { isStoring: false, waiting: [] })
    const { waiting } = line
    if (!wait && !(line.isStoring && waiting.length === 0))
      throw createBusyError(
        'Another message of this conversation is being answered.',
        'Wait for its reply, or send wait: true to be answered after it.',
      )
    if (waiting.length >= MAX_QUEUE_LENGTH)
      throw createBusyError(`${MAX_QUEUE_LENGTH} messages of this conversation wait already.`, 'Wait for their replies.')
    await waitInQueue(waiting, signal)
    return this.#startTurn(conversationId, line)
  }

  /** Nobody gets a turn any more. */
  close(): void {
    this.#closed = true
    for (const { waiting } of this.#queues.values()) for (const { refuse } of waiting.splice(0)) refuse(createStoppingError())
  }

  #startTurn(conversationId: string, line: Queue): Turn {
    this.#queues.set(conversationId, line)
    line.isStoring = false
    let ended = false
    return {
      markStoring: () => {
        line.isStoring = !ended
      },
      end: () => {
        if (ended) return
        ended = true
        const next = line.waiting.shift()
        if (next) next.proceed()
        else this.#queues.delete(conversationId)
      },
    }
  }
}

async function waitInQueue(line: QueuedMessage[], signal: AbortSignal): Promise<void> {
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

const createBusyError = (message: string, hint: string) => new CadreError('CONFLICT', message, { hint })
export const createStoppingError = () => new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'Try again in a moment.' })
