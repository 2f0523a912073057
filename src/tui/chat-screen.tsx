/** The terminal of the chat: draws frames, listens to the keyboard, and hands the terminal over to other programs. */
import { type Instance, render } from 'ink'
import { CursorQuery } from './input/cursor-query.ts'
import { type Key, KeyDecoder } from './input/key-decoder.ts'
import { listenToKeyboard } from './input/keyboard.ts'
import { bufferStdout } from './render/buffered-stdout.ts'
import { ChatView } from './render/chat-view.tsx'
import type { Rewrapping } from './render/drawn-lines.ts'
import { FrameBuilder } from './render/frame-builder.ts'
import { FrameScheduler } from './render/frame-scheduler.ts'
import { FrameStore } from './render/frame-store.ts'
import type { ChatStore } from './state/chat-store.ts'

interface ChatScreenDependencies {
  store: ChatStore
  colors: boolean
  rewrapping: Rewrapping
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  onKey: (key: Key) => void
}

/** Effectively unlimited: FrameScheduler limits the frame rate. */
const INK_MAX_FPS = 1000
const [SHOW_CURSOR, HIDE_CURSOR, CURSOR_UP, CLEAR_LINE] = ['\u001b[?25h', '\u001b[?25l', '\u001b[1A', '\r\u001b[2K']
/** A stop signal takes effect within this time, unless it is ignored, as without a shell that could continue the process. */
const STOP_DELAY_MS = 100
/** tmux reports further resizes up to 250 ms after they took effect. What is drawn meanwhile would leave lines behind. */
const RESIZE_DELAY_MS = 300
const NO_LIVE_AREA = { history: [], lines: [], cursor: undefined }

export class ChatScreen {
  readonly #dependencies: ChatScreenDependencies
  readonly #stdout: ReturnType<typeof bufferStdout>
  readonly #frames: FrameStore
  readonly #builder: FrameBuilder
  readonly #scheduler: FrameScheduler
  #ink: Instance | undefined
  #stopListening: (() => Key[]) | undefined
  readonly #keyDecoder = new KeyDecoder()
  readonly #cursorQuery: CursorQuery
  /** The answer, until a frame uses it or the terminal is resized. */
  #cursor: { readonly row: number | undefined } | undefined
  /** Whether the live area is being removed: everything is drawn at once, and keys wait until the chat listens again. */
  #isLeaving = false
  #waitingKeys: Key[] = []

  constructor(dependencies: ChatScreenDependencies) {
    this.#dependencies = dependencies
    const { store, colors, rewrapping, output } = dependencies
    this.#stdout = bufferStdout(output, () => this.#completeFrame())
    this.#frames = new FrameStore((text) => this.#stdout.stream.write(text))
    this.#builder = new FrameBuilder(colors, store.state, rewrapping)
    this.#scheduler = new FrameScheduler(() => this.#draw())
    this.#cursorQuery = new CursorQuery((text) => {
      this.#stdout.flush()
      output.write(text)
    })
  }

  open(): void {
    const { input, output } = this.#dependencies
    // The terminal may have echoed text that was typed ahead.
    output.write(CLEAR_LINE)
    this.#scheduler.flush()
    this.#ink = render(<ChatView frames={this.#frames} />, {
      stdin: input,
      stdout: this.#stdout.stream,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: INK_MAX_FPS,
    })
    output.on('resize', this.#onResize)
    process.on('SIGCONT', this.#onContinue)
    this.#listen()
  }

  /** Requests a frame with the current state. */
  update(): void {
    this.#scheduler.request()
  }

  /** Stops the process, as the terminal does with other programs on Ctrl+Z, until the shell continues it. */
  async suspend(): Promise<void> {
    await this.handOver(async () => {
      process.kill(0, 'SIGTSTP')
      await new Promise((resolve) => setTimeout(resolve, STOP_DELAY_MS))
    })
  }

  /** Removes the input, so that another program can use the terminal; the messages stay in the scrollback. */
  async handOver<T>(work: () => Promise<T>): Promise<T> {
    const { output, onKey } = this.#dependencies
    this.#isLeaving = true
    await this.#cursorQuery.settled
    this.#waitingKeys.push(...(this.#stopListening?.() ?? []))
    this.#stopListening = undefined
    this.#scheduler.pause()
    await this.#removeLiveArea()
    this.#isLeaving = false
    this.#builder.forgetDrawnLines()
    // Ink leaves the cursor below an empty line.
    output.write(CURSOR_UP + SHOW_CURSOR)
    try {
      return await work()
    } finally {
      // Ink erases the line of the cursor and the one above it, which may be output of the other program.
      output.write(`\n${HIDE_CURSOR}`)
      this.#listen()
      this.#scheduler.resume()
      for (const key of this.#waitingKeys.splice(0)) onKey(key)
    }
  }

  async close(): Promise<void> {
    const { output } = this.#dependencies
    this.#isLeaving = true
    await this.#cursorQuery.settled
    this.#stopListening?.()
    output.off('resize', this.#onResize)
    process.off('SIGCONT', this.#onContinue)
    this.#scheduler.flush()
    this.#scheduler.stop()
    await this.#removeLiveArea()
    this.#ink?.unmount()
    this.#stdout.flush()
  }

  #listen(): void {
    const { input, output, onKey } = this.#dependencies
    this.#stopListening = listenToKeyboard(input, output, this.#keyDecoder, (key) => {
      if (key.name === 'cursor-position') this.#cursorQuery.receive(key.text)
      // A key of the same chunk can have handed the terminal over, and so can a signal.
      else if (this.#isLeaving) this.#waitingKeys.push(key)
      else onKey(key)
    })
  }

  #draw(): void {
    const isResized = this.#readSize()
    const { store } = this.#dependencies
    const { state } = store
    if (!this.#isLeaving) {
      if (isResized) return
      if (this.#builder.drawsAgain(state) && !this.#cursor) return void this.#locateCursor()
    }
    this.#frames.publish(this.#builder.build(state, this.#cursor?.row))
    this.#cursor = undefined
    const missed = this.#builder.takeMissedDetails()
    if (missed.length > 0) store.addDetails(missed)
  }

  async #locateCursor(): Promise<void> {
    const { store } = this.#dependencies
    const { size } = store.state
    const row = await this.#cursorQuery.ask()
    this.#readSize()
    if (store.state.size !== size) return
    this.#cursor = { row }
    this.#scheduler.request()
  }

  async #removeLiveArea(): Promise<void> {
    this.#frames.publish({ ...NO_LIVE_AREA, history: this.#builder.takeSeparator() })
    await waitForRender()
    this.#stdout.flush()
  }

  /** Returns whether the frame is to be written. One for another size would leave lines behind that cannot be erased. */
  #completeFrame(): boolean {
    this.#readSize()
    if (!this.#isLeaving && this.#builder.discardOutdated(this.#dependencies.store.state.size)) return false
    this.#builder.commit()
    return true
  }

  readonly #onResize = () => {
    const { store, output } = this.#dependencies
    const { columns, rows } = getSize(output)
    const { size } = store.state
    if (size.columns === columns && size.rows === rows) return
    this.#cursor = undefined
    store.update({ size: { columns, rows } })
    this.#scheduler.delay(RESIZE_DELAY_MS)
  }

  /** Returns whether the size has changed. */
  #readSize(): boolean {
    const { output, store } = this.#dependencies
    const { size } = store.state
    // Not documented, but without it Node.js updates the size only when it handles the signal.
    ;(output as { _refreshSize?: () => void })._refreshSize?.()
    this.#onResize()
    return store.state.size !== size
  }

  /** If a signal from elsewhere stopped the process, the shell has changed the mode of the terminal and may have written to it. */
  readonly #onContinue = () => {
    if (this.#stopListening && !this.#isLeaving) void this.handOver(async () => {})
  }
}

export const getSize = (output: NodeJS.WriteStream) => ({ columns: output.columns || 80, rows: output.rows || 24 })

/** React renders before the next immediate. */
const waitForRender = () => new Promise((resolve) => setImmediate(resolve))
