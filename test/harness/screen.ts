/** A real terminal of a chosen size, in tmux: commands are typed into it, and what it shows is read back. */
import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Terminal } from './cli.ts'

const SCREEN_TIMEOUT_MS = 30_000

export const hasTmux = spawnSync('tmux', ['-V']).status === 0

export class Screen {
  readonly #socket: string

  private constructor(socket: string) {
    this.#socket = socket
  }

  /** A shell whose environment is that of the terminal, in which `cadre` is the build under test. */
  static open({ environment, command }: Terminal, columns = 80): Screen {
    const screen = new Screen(`cadre-test-${process.pid}-${Math.random().toString(36).slice(2)}`)
    const variables = Object.entries({ ...environment, TERM: 'screen-256color', PS1: '$ ' }).map(
      ([name, value]) => `${name}=${value ?? ''}`,
    )
    const shell = `cadre() { "${process.execPath}" "${command}" "$@"; }`
    screen.#tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(columns), '-y', '50', 'env', '-i', ...variables, 'sh')
    screen.type(`${shell}; clear`)
    return screen
  }

  #tmux(...words: string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...words], { encoding: 'utf8' })
  }

  /** Text as it is, then Enter. */
  type(text: string): void {
    this.write(text)
    this.press('Enter')
  }

  /** Text as it is, and nothing more. */
  write(text: string): void {
    this.#tmux('send-keys', '-l', text)
  }

  /** A key by tmux's name for it, such as C-c. */
  press(key: string): void {
    this.#tmux('send-keys', key)
  }

  read(): string {
    return this.#tmux('capture-pane', '-p').trimEnd()
  }

  /** The same with its colours, as escape sequences. */
  readWithColors(): string {
    return this.#tmux('capture-pane', '-p', '-e').trimEnd()
  }

  /** Waits until the screen shows this, and returns all of it. */
  async waitFor(pattern: RegExp | string): Promise<string> {
    const deadline = Date.now() + SCREEN_TIMEOUT_MS
    for (;;) {
      const text = this.read()
      if (typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text)) return text
      if (Date.now() > deadline) throw new Error(`The screen never showed ${pattern}:\n${text}`)
      await pause(50)
    }
  }

  /** Runs a command to its end, and returns what the screen then shows below it. */
  async run(command: string): Promise<string> {
    this.start(command)
    return this.waitForExit()
  }

  start(command: string): void {
    this.press('-R') // empties the screen now: until the shell gets to it, what the last command showed would pass for this one's
    this.type(`clear; ${command}; echo "exit $?"`)
  }

  async waitForExit(): Promise<string> {
    return this.waitFor(/^exit \d+$/m)
  }

  close(): void {
    this.#tmux('kill-server')
  }
}
