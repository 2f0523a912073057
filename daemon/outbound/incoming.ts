/** The answer to one request as it arrives: its head, then its bytes as somebody asks for them. A stream of Node's would cost more than all else a short answer does. */
import type { Dispatcher } from 'undici'

/** What may arrive before somebody asks for it; then the sender waits. */
const MOST_HELD = 64 * 1024

export interface AnswerHead {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
}

export class Incoming implements Dispatcher.DispatchHandler {
  /** Rejects where no answer came. */
  readonly head: Promise<AnswerHead>
  #answer: (head: AnswerHead) => void = () => {}
  #refuse: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #parts: Buffer[] = []
  #held = 0
  #over = false
  #failure: { error: unknown } | undefined
  /** Lets whoever waits for the next part look again. */
  #wake: (() => void) | undefined

  constructor() {
    this.head = new Promise((resolve, reject) => {
      this.#answer = resolve
      this.#refuse = reject
    })
    // Whoever waits for it gets the error; nobody waiting is no crash.
    this.head.catch(() => {})
  }

  /** All that has come since; undefined when all has. Throws where the rest will not. */
  async next(): Promise<Buffer | undefined> {
    while (!this.#over && !this.#failure && this.#held === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    if (this.#parts.length > 0) return this.#taken()
    if (this.#failure) throw this.#failure.error
    return undefined
  }

  /** Ends the request if it still runs; whoever waits gets the reason. */
  end(reason: unknown): void {
    if (this.#over) return
    this.#fail(reason)
    this.#controller?.abort(reason as Error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure) controller.abort(this.#failure.error as Error)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHead['headers']): void {
    if (status >= 200) this.#answer({ status, headers })
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    this.#parts.push(part)
    this.#held += part.length
    if (this.#held > MOST_HELD) controller.pause()
    this.#wake?.()
  }

  onResponseEnd(): void {
    this.#over = true
    this.#wake?.()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error)
  }

  #taken(): Buffer {
    const [first, ...more] = this.#parts as [Buffer]
    this.#parts = []
    this.#held = 0
    if (this.#controller?.paused) this.#controller.resume()
    return more.length === 0 ? first : Buffer.concat([first, ...more])
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#refuse(error)
    this.#wake?.()
  }
}
