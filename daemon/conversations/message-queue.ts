/** Per-conversation queue: one message is answered at a time, others are rejected, or wait if requested. */
import { CadreError } from '../../src/contract/errors.ts'

const MAX_QUEUE_LENGTH = 20

interface QueuedMessage {
  proceed(): void
  reject(reason: unknown): void
}

interface Queue {
  /** Whether the current reply is complete and only its end remains to be stored. */
  isStoring: boolean
  waiting: QueuedMessage[]
}

export interface Turn {
  /** The reply is about to be stored. Clients may read its end before the write is confirmed, and send the next message. */
  markStoring(): void
  end(): void
}

export class MessageQueue {
  /** Queued messages by conversation. */
  readonly #queues = new Map<string, Queue>()
  #closed = false

  async acquireTurn(conversationId: string, wait: boolean, signal: AbortSignal): Promise<Turn> {
    if (this.#closed) throw createStoppingError()
    const queue = this.#queues.get(conversationId)
    if (!queue) return this.#startTurn(conversationId, { isStoring: false, waiting: [] })
    const { waiting } = queue
    if (!wait && !(queue.isStoring && waiting.length === 0)) throw new BusyError()
    if (waiting.length >= MAX_QUEUE_LENGTH)
      throw new CadreError('CONFLICT', `${MAX_QUEUE_LENGTH} messages of this conversation are already queued.`, {
        hint: 'Wait for their replies.',
      })
    await waitInQueue(waiting, signal)
    return this.#startTurn(conversationId, queue)
  }

  /** Rejects all waiting and future messages. */
  close(): void {
    this.#closed = true
    for (const { waiting } of this.#queues.values()) for (const { reject } of waiting.splice(0)) reject(createStoppingError())
  }

  #startTurn(conversationId: string, queue: Queue): Turn {
    this.#queues.set(conversationId, queue)
    queue.isStoring = false
    let ended = false
    return {
      markStoring: () => {
        queue.isStoring = !ended
      },
      end: () => {
        if (ended) return
        ended = true
        const next = queue.waiting.shift()
        if (next) next.proceed()
        else this.#queues.delete(conversationId)
      },
    }
  }
}

async function waitInQueue(queue: QueuedMessage[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let leave = () => {}
  try {
    await new Promise<void>((proceed, reject) => {
      const entry = { proceed, reject }
      queue.push(entry)
      leave = () => {
        const index = queue.indexOf(entry)
        if (index >= 0) queue.splice(index, 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave)
    })
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

export class BusyError extends CadreError {
  constructor() {
    super('CONFLICT', 'Another message of this conversation is being answered.', {
      hint: 'Wait for its reply, or send wait: true to queue the message.',
    })
  }
}

const createStoppingError = () => new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'Try again in a moment.' })
