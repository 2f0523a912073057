/** Runs programs in a real terminal (tmux), sends keys and reads the screen. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startDeadline } from '../../src/deadline.ts'
import type { Terminal } from './cli.ts'

const TIMEOUT_MS = 600_000
const POLL_INTERVAL_MS = 80
/** tmux rejects longer commands. */
const MAX_BYTES = 4_000
/** The screen is read after output. It may also change without, when tmux wraps lines after a resize. */
const MAX_AGE_MS = 400

export const hasTmux = spawnSync('tmux', ['-V']).status === 0

export interface TmuxOptions {
  command: readonly string[]
  environment: Record<string, string | undefined>
  cwd: string
  columns: number
  rows: number
  /** Whether the program can find tmux. Otherwise it runs as in a terminal without tmux. */
  isInTmux?: boolean
}

export class TmuxTerminal {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cadre-tmux-'))
  /** A copy of the output. Its size shows whether the screen may have changed; reading the screen takes a process. */
  readonly #output = join(this.#folder, 'output')

  constructor({ command, environment, cwd, columns, rows, isInTmux = false }: TmuxOptions) {
    const variables = Object.entries({ TERM: 'screen-256color', ...environment }).map(([name, value]) => `${name}=${value ?? ''}`)
    const size = ['-x', String(columns), '-y', String(rows)]
    const start = isInTmux ? ['sh', '-c', 'exec env -i TMUX="$TMUX" "$@"', 'sh'] : ['env', '-i']
    const copy = [';', 'pipe-pane', `cat > '${this.#output}'`]
    this.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, '-c', cwd, ...start, ...variables, ...command, ...copy)
  }

  /** Returns the buffer that tmux pastes. */
  readBuffer(): string {
    return this.#tmux('show-buffer')
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-S', join(this.#folder, 'socket'), ...args], { encoding: 'utf8' })
  }

  /** Sends text as the bytes of a keyboard, including control characters. */
  write(text: string): void {
    const bytes = Array.from(Buffer.from(text), (byte) => byte.toString(16).padStart(2, '0'))
    for (let start = 0; start < bytes.length; start += MAX_BYTES) this.#tmux('send-keys', '-H', ...bytes.slice(start, start + MAX_BYTES))
  }

  /** Sends text and Enter. */
  type(text: string): void {
    this.write(`${text}\r`)
  }

  /** Sends a key by its tmux name, such as C-c. */
  press(key: string): void {
    this.#tmux('send-keys', key)
  }

  /** Returns the visible screen. */
  read(): string {
    return this.#tmux('capture-pane', '-p').trimEnd()
  }

  /** Returns the visible screen with escape sequences for colors. */
  readWithColors(): string {
    return this.#tmux('capture-pane', '-p', '-e').trimEnd()
  }

  /** Returns the scrollback and the visible screen. */
  readAll(): string {
    return this.#tmux('capture-pane', '-p', '-S', '-').trimEnd()
  }

  /** Returns the scrollback and the visible screen, with wrapped lines as one line. */
  readUnwrapped(): string {
    return this.#tmux('capture-pane', '-p', '-J', '-S', '-').trimEnd()
  }

  getCursor(): { x: number; y: number } {
    const [x = -1, y = -1] = this.#tmux('display-message', '-p', '#{cursor_x} #{cursor_y}').split(' ').map(Number)
    return { x, y }
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows))
  }

  /** Copies all further output to a file. */
  record(file: string): void {
    writeFileSync(file, '') // tmux starts the program that writes it later
    this.#tmux('pipe-pane', `tee '${file}' >> '${this.#output}'`)
  }

  /** Waits until the visible screen matches and returns it. */
  async waitFor(expected: string | RegExp | ((screen: string) => boolean), description = String(expected)): Promise<string> {
    const deadline = startDeadline(TIMEOUT_MS).unref()
    let seen: number | undefined
    for (let readAt = 0; ; ) {
      const size = statSync(this.#output, { throwIfNoEntry: false })?.size
      if (size !== seen || Date.now() - readAt >= MAX_AGE_MS) {
        seen = size
        readAt = Date.now()
        const screen = this.read()
        if (
          typeof expected === 'string' ? screen.includes(expected) : expected instanceof RegExp ? expected.test(screen) : expected(screen)
        )
          return screen
      }
      if (deadline.hasPassed) throw new Error(`The screen did not show ${description}:\n${this.readAll()}`)
      await sleep(POLL_INTERVAL_MS)
    }
  }

  /** Starts a command in a shell opened by openShell. */
  start(command: string): void {
    this.press('-R') // clears the screen before the shell does, so that waitFor cannot match the output of the previous command
    this.type(`clear; ${command}; echo "exit $?"`)
  }

  waitForExit(): Promise<string> {
    return this.waitFor(/^exit \d+$/m)
  }

  async run(command: string): Promise<string> {
    this.start(command)
    return this.waitForExit()
  }

  /** The server has ended already if its program has. */
  close(): void {
    spawnSync('tmux', ['-S', join(this.#folder, 'socket'), 'kill-server'])
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Opens a shell in the home of a CLI test, with its environment, in which `cadre` runs the build under test. */
export function openShell({ environment, command }: Terminal, columns = 80): TmuxTerminal {
  const cwd = environment.HOME as string
  const shell = new TmuxTerminal({ command: ['sh'], environment: { ...environment, PS1: '$ ' }, cwd, columns, rows: 80 })
  shell.type(`cadre() { "${process.execPath}" "${command}" "$@"; }; clear`)
  return shell
}
