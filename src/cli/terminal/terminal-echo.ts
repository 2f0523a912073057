/** Whether the terminal shows what is typed: not into a bar that is being drawn. What is typed stays for whoever reads next, a question or the shell. */
import { spawnSync } from 'node:child_process'

export class Echo {
  /** What the terminal was like before, in stty's own words; empty where it was left alone. */
  #before: string | undefined

  /** However the process ends, Node leaves the terminal as it found it. */
  off(): void {
    if (process.stdin.isTTY) this.#before ??= inForeground('stty -g && stty -echo')
  }

  on(): void {
    if (this.#before) inForeground('stty "$1"', this.#before)
    this.#before = undefined
  }
}

/** Who touches the terminal from the background is stopped for it. Where there is no shell to ask, nothing is done. */
function inForeground(work: string, ...words: string[]): string {
  const script = `case "$(ps -o stat= -p $$)" in *+*) ${work} ;; esac`
  return spawnSync('sh', ['-c', script, 'sh', ...words], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout?.trim() ?? ''
}
