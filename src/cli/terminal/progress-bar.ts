/** How far long work is: a bar that is redrawn at a terminal, and a line now and then where there is none. */
import { canRedraw, paint, stripControlSequences } from './color.ts'
import { formatDuration } from './format-quantity.ts'
import { TerminalEcho } from './terminal-echo.ts'
import { truncate, width } from './text.ts'
import { wrapForStream } from './wrap-sentences.ts'

/** What is being done, and how much of it is done. Work of the same label shares one rate. */
export interface ProgressStep {
  label: string
  done: number
  /** Null while nobody knows. */
  total: number | null
  /** What is counted, in the plural. */
  unit: string
  /** What else is worth knowing, when there is room. */
  note?: string
  /** Lines below the bar, in place of the note, for those who look on at a terminal of so many columns. */
  below?: (columns: number) => readonly string[]
}

export interface Pace {
  /** Units a second; zero while it is unknown. */
  rate: number
  secondsLeft: number | undefined
}

const REDRAW_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 3_000
/** What happened longer ago says little about what is left. */
const RATE_WINDOW_MS = 15_000
const MIN_BAR_COLUMNS = 8
const MAX_BAR_COLUMNS = 14
const SPINNER_FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

const count = (number: number) => number.toLocaleString('en')
const formatRate = (rate: number) => `${rate >= 10 ? count(Math.round(rate)) : rate.toFixed(1)}/s`

/** Nobody knows the seconds of a quarter of an hour. */
const formatRemaining = (seconds: number) => formatDuration(seconds < 120 ? seconds : Math.ceil(seconds / 60) * 60).replace(/ 0 \w+$/, '')

/** The step as one line of at most that many columns: what matters least goes first. */
export function formatBarLine(
  { label, done, total, unit, note }: ProgressStep,
  { rate, secondsLeft }: Pace,
  columns: number,
  frame = 0,
): string {
  const spinner = SPINNER_FRAMES[frame % SPINNER_FRAMES.length] ?? ''
  const parts: { text: string; worth: number }[] = []
  const say = (worth: number, text: string | undefined) => {
    if (text) parts.push({ text, worth })
  }
  say(3, total !== null ? `${count(done)}/${count(total)} ${unit}` : done > 0 ? `${count(done)} ${unit}` : undefined)
  say(1, note)
  say(2, rate > 0 ? formatRate(rate) : undefined)
  say(4, secondsLeft === undefined ? undefined : `${formatRemaining(secondsLeft)} left`)
  const share = total === null ? undefined : total === 0 ? 1 : Math.min(1, done / total)
  const percent = share === undefined ? '' : ` ${String(Math.floor(share * 100)).padStart(3)} %`
  const head = `${spinner} ${label}`
  // The bar keeps its length while the words beside it come and go.
  const length = Math.max(MIN_BAR_COLUMNS, Math.min(MAX_BAR_COLUMNS, Math.floor(columns / 4)))
  const bar = share === undefined ? '' : ` ${drawBar(share, length)}`
  const room = () => columns - width(head) - width(bar) - width(percent) - parts.reduce((sum, { text }) => sum + 2 + width(text), 0)
  while (room() < 0 && parts.length > 0) {
    const lowest = Math.min(...parts.map(({ worth }) => worth))
    parts.splice(
      parts.findIndex(({ worth }) => worth === lowest),
      1,
    )
  }
  return truncate(`${head}${bar}${percent}${parts.map(({ text }) => `  ${text}`).join('')}`, columns)
}

function drawBar(share: number, columns: number): string {
  const full = Math.round(share * columns)
  return '█'.repeat(full) + '░'.repeat(columns - full)
}

/** The step in words, for a log. */
export function formatPlainLine({ label, done, total, unit, note }: ProgressStep, { rate, secondsLeft }: Pace): string {
  if (total === null && done === 0) return `${label}…`
  const parts = [total === null ? `${count(done)} ${unit}` : `${count(done)} of ${count(total)} ${unit}`]
  if (note) parts.push(note)
  if (rate > 0) parts.push(formatRate(rate))
  if (secondsLeft !== undefined) parts.push(`${formatRemaining(secondsLeft)} left`)
  return `${label}: ${parts.join(', ')}`
}

/** How fast a step goes, from what was done lately. Work that is reported in heaps has a rate from heap to heap, not from moment to moment. */
export class RateEstimator {
  #label = ''
  #samples: { at: number; done: number }[] = []

  pace({ label, done, total }: ProgressStep, now: number): Pace {
    if (label !== this.#label || done < (this.#samples.at(-1)?.done ?? 0)) this.#samples = []
    this.#label = label
    if (this.#samples.at(-1)?.done !== done) this.#samples.push({ at: now, done })
    while (this.#samples.length > 2 && now - (this.#samples[1]?.at ?? now) > RATE_WINDOW_MS) this.#samples.shift()
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    const elapsed = first && last ? (last.at - first.at) / 1000 : 0
    if (!first || !last || elapsed < 1) return { rate: 0, secondsLeft: undefined }
    const rate = (last.done - first.done) / elapsed
    const left = total === null || done >= total ? undefined : Math.max(1, Math.ceil((total - done) / rate - (now - last.at) / 1000))
    return { rate, secondsLeft: left }
  }
}

export class ProgressDisplay {
  readonly #stream: NodeJS.WriteStream
  readonly #canRedraw: boolean
  readonly #estimator = new RateEstimator()
  readonly #echo = new TerminalEcho()
  #step: ProgressStep | undefined
  #timer: NodeJS.Timeout | undefined
  #frame = 0
  #isDrawn = false
  /** Lines below the bar as it is drawn. */
  #linesBelow = 0

  constructor(quiet = false, stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
    this.#canRedraw = canRedraw(stream)
    if (quiet) return
    this.#timer = setInterval(() => this.#draw(), this.#canRedraw ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS).unref()
  }

  show(step: ProgressStep): void {
    this.#step = step
    this.#estimator.pace(step, Date.now())
  }

  /** A line that stays, above the bar. */
  log = (line: string): void => {
    this.#erase()
    this.#stream.write(`${wrapForStream(stripControlSequences(line), this.#stream)}\n`)
  }

  /** Takes the bar away until the next step; questions may be asked. */
  clear(): void {
    this.#erase()
    this.#echo.on()
  }

  #erase(): void {
    this.#step = undefined
    if (this.#isDrawn) this.#stream.write(this.#formatErase())
    this.#isDrawn = false
    this.#linesBelow = 0
  }

  /** Back to where the bar begins, and nothing there any more. */
  #formatErase(): string {
    return this.#linesBelow === 0 ? '\r\u001b[2K' : `\u001b[${this.#linesBelow}A\r\u001b[J`
  }

  end(): void {
    clearInterval(this.#timer)
    this.clear()
  }

  #draw(): void {
    if (!this.#step) return
    const pace = this.#estimator.pace(this.#step, Date.now())
    if (!this.#canRedraw) return void this.#stream.write(`${formatPlainLine(this.#step, pace)}\n`)
    // Short waits, of which nobody knows the end, are not worth asking the system.
    if (this.#step.total !== null && this.#stream === process.stderr) this.#echo.off()
    // The last column stays free: some terminals begin a new line as soon as it is written to.
    const columns = (this.#stream.columns || 80) - 1
    const { below, note = '', ...step } = this.#step
    const lines = below?.(columns) ?? []
    const bar = formatBarLine(below ? step : { ...step, note }, pace, columns, this.#frame++)
    this.#stream.write(this.#formatErase() + [colorBar(bar, this.#stream), ...lines].join('\n'))
    this.#isDrawn = true
    this.#linesBelow = lines.length
  }
}

const colorBar = (line: string, stream: NodeJS.WriteStream) =>
  line.replace(/█+/, (full) => paint('cyan', full, stream)).replace(/░+/, (rest) => paint('dim', rest, stream))
