/** A tmux pane as the terminal of this process. The test decides when the terminal is resized and when the program learns it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { startDeadline } from '../../src/deadline.ts'
import { TmuxTerminal } from '../harness/tmux-terminal.ts'

/** Runs in the pane: copies the bytes of the program to the terminal, and the answers of the terminal to the program. */
const COPY_BYTES = `
process.stdin.setRawMode(true)
const socket = require('node:net').connect(process.argv[1])
socket.pipe(process.stdout)
process.stdin.pipe(socket)`
/** tmux answers in the order of its input, so everything before the query is drawn. */
const [STATUS_QUERY, STATUS_ANSWER] = ['\u001b[5n', '\u001b[0n']
const FRAME_END = '\u001b[?2026l'
const TIMEOUT_MS = 600_000

interface Size {
  columns: number
  rows: number
}

export class TmuxPane {
  readonly terminal: TmuxTerminal
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
  readonly #folder: string
  readonly #server: Server
  readonly #socket: Socket
  readonly #keys = new PassThrough()
  readonly #frameWaiters: (() => void)[] = []
  readonly #statusWaiters: (() => void)[] = []
  #partialSequence = ''

  private constructor(terminal: TmuxTerminal, folder: string, server: Server, socket: Socket, size: Size) {
    this.terminal = terminal
    this.#folder = folder
    this.#server = server
    this.#socket = socket
    this.input = this.#keys as unknown as NodeJS.ReadStream
    socket.setEncoding('utf8').on('data', (text: string) => this.#receive(text))
    const output = new Writable({
      decodeStrings: false,
      write: (text: string, _, done) => {
        socket.write(text, () => done())
        if (text.includes(FRAME_END)) for (const resolve of this.#frameWaiters.splice(0)) resolve()
      },
    })
    this.output = Object.assign(output, { isTTY: true }, size) as unknown as NodeJS.WriteStream
  }

  static async open(size: Size): Promise<TmuxPane> {
    const folder = mkdtempSync(join(tmpdir(), 'cadre-pane-'))
    const path = join(folder, 'socket')
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const connected = new Promise<Socket>((resolve, reject) => {
      const deadline = startDeadline(TIMEOUT_MS, () => reject(new Error('The pane did not start.')))
      server.once('connection', (socket) => {
        deadline.cancel()
        resolve(socket)
      })
    })
    const terminal = new TmuxTerminal({ command: [process.execPath, '-e', COPY_BYTES, path], environment: {}, cwd: folder, ...size })
    return new TmuxPane(terminal, folder, server, await connected, size)
  }

  #receive(text: string): void {
    const all = this.#partialSequence + text
    this.#partialSequence = /\u001b(?:\[[\d;]*)?$/.exec(all)?.[0] ?? ''
    const [first = '', ...others] = all.slice(0, all.length - this.#partialSequence.length).split(STATUS_ANSWER)
    for (const resolve of this.#statusWaiters.splice(0, others.length)) resolve()
    this.#keys.write([first, ...others].join(''))
  }

  /** Resolves when the program has written its next frame. */
  nextFrame(): Promise<void> {
    return waitIn(this.#frameWaiters, 'a frame')
  }

  /** Resolves when tmux has drawn everything that the program has written. */
  drawn(): Promise<void> {
    this.#socket.write(STATUS_QUERY)
    return waitIn(this.#statusWaiters, 'the status of tmux')
  }

  /** Reports the size to the program, and resolves when it has drawn a frame. */
  async reportSize(size: Size): Promise<void> {
    const frame = this.nextFrame()
    Object.assign(this.output, size)
    this.output.emit('resize')
    await frame
    await this.drawn()
  }

  async close(): Promise<void> {
    this.terminal.close()
    this.#socket.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function waitIn(waiters: (() => void)[], description: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = startDeadline(TIMEOUT_MS, () => reject(new Error(`Timed out waiting for ${description}`)))
    waiters.push(() => {
      deadline.cancel()
      resolve()
    })
  })
}
