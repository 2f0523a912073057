/** Cancels requests of clients that began with a handshake: these send `notifications/cancelled` as another request. */

const CANCELLED = 'notifications/cancelled'

interface Message {
  id?: unknown
  method?: unknown
  params?: { requestId?: unknown }
}

export class RunningRequests {
  readonly #running = new Map<AbortController, string | undefined>()

  /** Cancels another request if the message says so. `session` tells clients apart: all count their requests from 0. */
  begin(session: string | undefined, body: unknown): { signal: AbortSignal; end(): void } {
    const { id, method, params } = (body ?? {}) as Message
    if (session !== undefined && method === CANCELLED) this.#cancel(createKey(session, params?.requestId))
    const controller = new AbortController()
    this.#running.set(controller, session === undefined || id === undefined ? undefined : createKey(session, id))
    return { signal: controller.signal, end: () => void this.#running.delete(controller) }
  }

  abortAll(): void {
    for (const controller of this.#running.keys()) controller.abort()
  }

  #cancel(key: string): void {
    for (const [controller, running] of this.#running) if (running === key) controller.abort()
  }
}

const createKey = (session: string, id: unknown): string => `${session} ${JSON.stringify(id)}`
