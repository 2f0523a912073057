/** Reads one response with backpressure. A Node stream would cost more than the rest of a short response. */
import type { Dispatcher } from 'undici'

/** Unread bytes beyond this pause the sender. */
const MAX_BUFFERED_BYTES = 64 * 1024

interface ResponseHead {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
}

export class ResponseReader implements Dispatcher.DispatchHandler {
  /** Rejects if no response arrives. */
  readonly head: Promise<ResponseHead>
  #resolveHead: (head: ResponseHead) => void = () => {}
  #rejectHead: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #parts: Buffer[] = []
  #bufferedBytes = 0
  #ended = false
  #failure: { error: unknown } | undefined
  /** Resumes a waiting `next`. */
  #wake: (() => void) | undefined

  constructor() {
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve
      this.#rejectHead = reject
    })
    // Prevents an unhandled rejection if it is never awaited.
    this.head.catch(() => {})
  }

  /** Returns the bytes received since the last call, or undefined at the end. Throws if the response fails. */
  async next(): Promise<Buffer | undefined> {
    while (!this.#ended && !this.#failure && this.#bufferedBytes === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    if (this.#parts.length > 0) return this.#takeBuffered()
    if (this.#failure) throw this.#failure.error
    return undefined
  }

  /** Aborts a running request; a waiting `next` rejects with the reason. */
  abort(reason: unknown): void {
    if (this.#ended) return
    this.#fail(reason)
    this.#controller?.abort(reason as Error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure) controller.abort(this.#failure.error as Error)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHead['headers']): void {
    if (status >= 200) this.#resolveHead({ status, headers })
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    this.#parts.push(part)
    this.#bufferedBytes += part.length
    if (this.#bufferedBytes > MAX_BUFFERED_BYTES) controller.pause()
    this.#wake?.()
  }

  onResponseEnd(): void {
    this.#ended = true
    this.#wake?.()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error)
  }

  #takeBuffered(): Buffer {
    const [first, ...more] = this.#parts as [Buffer]
    this.#parts = []
    this.#bufferedBytes = 0
    if (this.#controller?.paused) this.#controller.resume()
    return more.length === 0 ? first : Buffer.concat([first, ...more])
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#rejectHead(error)
    this.#wake?.()
  }
}
