/** The answer to one request as it arrives: its head, then its bytes as somebody asks for them. A stream of Node's would cost more than all else a short answer does. */
import type { Dispatcher } from 'undici'

/** What may arrive before somebody asks for it; then the sender waits. */
const MAX_BUFFERED_BYTES = 64 * 1024

export interface ResponseHead {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
}

export class ResponseReader implements Dispatcher.DispatchHandler {
  /** Rejects where no answer came. */
  readonly head: Promise<ResponseHead>
  #resolveHead: (head: ResponseHead) => void = () => {}
  #rejectHead: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #parts: Buffer[] = []
  #bufferedBytes = 0
  #ended = false
  #failure: { error: unknown } | undefined
  /** Lets whoever waits for the next part look again. */
  #wake: (() => void) | undefined

  constructor() {
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve
      this.#rejectHead = reject
    })
    // Whoever waits for it gets the error; nobody waiting is no crash.
    this.head.catch(() => {})
  }

  /** All that has come since; undefined when all has. Throws where the rest will not. */
  async next(): Promise<Buffer | undefined> {
    while (!this.#ended && !this.#failure && this.#bufferedBytes === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    if (this.#parts.length > 0) return this.#takeBuffered()
    if (this.#failure) throw this.#failure.error
    return undefined
  }

  /** Ends the request if it still runs; whoever waits gets the reason. */
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
