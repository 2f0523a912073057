/** Disables the echo of typed characters while a progress bar is drawn. The input stays available to the next reader. */
import { spawnSync } from 'node:child_process'

export class TerminalEcho {
  /** The output of `stty -g`; empty if the terminal was not changed. */
  #savedState: string | undefined

  /** Node restores the terminal when the process exits. */
  disable(): void {
    if (process.stdin.isTTY) this.#savedState ??= runInForeground('stty -g && stty -echo')
  }

  restore(): void {
    if (this.#savedState) runInForeground('stty "$1"', this.#savedState)
    this.#savedState = undefined
  }
}

/** A background process that changes the terminal would be stopped by SIGTTOU. Does nothing if there is no shell. */
function runInForeground(work: string, ...words: string[]): string {
  const script = `case "$(ps -o stat= -p $$)" in *+*) ${work} ;; esac`
  return spawnSync('sh', ['-c', script, 'sh', ...words], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout?.trim() ?? ''
}
