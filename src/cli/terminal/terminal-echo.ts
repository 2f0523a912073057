/** Whether the terminal shows what is typed: not into a bar that is being drawn. What is typed stays for whoever reads next, a question or the shell. */
import { spawnSync } from 'node:child_process'

export class TerminalEcho {
  /** What the terminal was like before, in stty's own words; empty where it was left alone. */
  #savedState: string | undefined

  /** However the process ends, Node leaves the terminal as it found it. */
  off(): void {
    if (process.stdin.isTTY) this.#savedState ??= runInForeground('stty -g && stty -echo')
  }

  on(): void {
    if (this.#savedState) runInForeground('stty "$1"', this.#savedState)
    this.#savedState = undefined
  }
}

/** Who touches the terminal from the background is stopped for it. Where there is no shell to ask, nothing is done. */
function runInForeground(work: string, ...words: string[]): string {
  const script = `case "$(ps -o stat= -p $$)" in *+*) ${work} ;; esac`
  return spawnSync('sh', ['-c', script, 'sh', ...words], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout?.trim() ?? ''
}
