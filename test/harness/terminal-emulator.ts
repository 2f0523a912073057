/** An in-memory terminal that interprets the output of Ink and provides the resulting screen. */
import { splitGraphemes, stringWidth } from '../../src/cli/terminal/text.ts'

export class TerminalEmulator {
  columns: number
  rows: number
  /** Lines that scrolled off the top. */
  readonly history: string[] = []
  #cells: string[][] = []
  #x = 0
  #y = 0
  #pending = ''

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
    this.#erase()
  }

  #erase(): void {
    this.#cells = Array.from({ length: this.rows }, () => [])
  }

  get screen(): string {
    return this.#cells.map((row) => this.#toText(row)).join('\n')
  }

  get cursor(): { x: number; y: number } {
    return { x: this.#x, y: this.#y }
  }

  #toText(row: readonly string[]): string {
    return Array.from(row, (cell) => cell ?? ' ')
      .join('')
      .trimEnd()
  }

  /** Does not reflow lines. The program is expected to redraw. */
  resize(columns: number, rows: number): void {
    for (; this.#cells.length > rows; this.#y--) this.history.push(this.#toText(this.#cells.shift() ?? []))
    while (this.#cells.length < rows) this.#cells.push([])
    this.columns = columns
    this.rows = rows
    this.#y = Math.max(0, Math.min(this.#y, rows - 1))
    this.#x = Math.min(this.#x, columns - 1)
  }

  write(text: string): void {
    let input = this.#pending + text
    this.#pending = ''
    while (input !== '') {
      const control = /^\u001b(?:\[([?<>=]?)([\d;]*)([@-~])|\][^\u0007]*\u0007)/.exec(input)
      if (control) {
        // OSC sequences (title, clipboard) do not change the screen.
        if (control[3] !== undefined) this.#applyControl(control[1] ?? '', control[2] ?? '', control[3])
        input = input.slice(control[0].length)
      } else if (input.startsWith('\u001b')) {
        this.#pending = input
        return
      } else if (input.startsWith('\n')) {
        this.#x = 0
        this.#moveDown()
        input = input.slice(1)
      } else if (input.startsWith('\r')) {
        this.#x = 0
        input = input.slice(1)
      } else if (input.startsWith('\b')) {
        this.#x = Math.max(0, this.#x - 1)
        input = input.slice(1)
      } else {
        const [plain = ''] = /^[^\u001b\n\r\b]+/.exec(input) ?? []
        for (const grapheme of splitGraphemes(plain)) this.#write(grapheme)
        input = input.slice(plain.length)
      }
    }
  }

  #write(grapheme: string): void {
    const size = stringWidth(grapheme)
    if (this.#x + size > this.columns) {
      this.#x = 0
      this.#moveDown()
    }
    const row = this.#cells[this.#y] as string[]
    row[this.#x] = grapheme
    for (let more = 1; more < size; more++) row[this.#x + more] = ''
    this.#x += size
  }

  #moveDown(): void {
    if (this.#y < this.rows - 1) this.#y++
    else {
      this.history.push(this.#toText(this.#cells.shift() ?? []))
      this.#cells.push([])
    }
  }

  #applyControl(mode: string, parameters: string, final: string): void {
    if (mode !== '') return // private modes: keyboard, cursor, synchronized updates
    const [first = 1, second = 1] = parameters.split(';').map((parameter) => (parameter === '' ? undefined : Number(parameter)))
    const row = this.#cells[this.#y] as string[]
    if (final === 'A') this.#y = Math.max(0, this.#y - first)
    else if (final === 'B') this.#y = Math.min(this.rows - 1, this.#y + first)
    else if (final === 'C') this.#x = Math.min(this.columns - 1, this.#x + first)
    else if (final === 'D') this.#x = Math.max(0, this.#x - first)
    else if (final === 'E') [this.#x, this.#y] = [0, Math.min(this.rows - 1, this.#y + first)]
    else if (final === 'G') this.#x = first - 1
    else if (final === 'H') [this.#y, this.#x] = [Math.min(this.rows, first) - 1, Math.min(this.columns, second) - 1]
    else if (final === 'J' && parameters === '') {
      row.length = Math.min(row.length, this.#x)
      for (let below = this.#y + 1; below < this.rows; below++) this.#cells[below] = []
    } else if (final === 'J') this.#erase()
    else if (final === 'K') row.length = parameters === '2' ? 0 : Math.min(row.length, this.#x)
    else if (final !== 'm') throw new Error(`Unsupported control sequence: CSI ${parameters}${final}`)
  }
}
