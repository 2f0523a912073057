/** Progress of long operations: a redrawn bar at a terminal, otherwise a line every few seconds. */
import type { WaitingStep } from '../../client/request.ts'
import { canRedraw, paint, stripControlSequences } from './color.ts'
import { formatCount, formatDuration } from './format-quantity.ts'
import { TerminalEcho } from './terminal-echo.ts'
import { stringWidth, truncate } from './text.ts'
import { wrapForStream } from './wrap-sentences.ts'

/** Steps with the same label share one rate estimate. */
export interface ProgressStep extends WaitingStep {
  /** Shown if there is room. */
  note?: string
  /** Lines below the bar that replace the note at a terminal. */
  below?: (columns: number) => readonly string[]
}

interface Pace {
  /** Units per second; zero if unknown. */
  rate: number
  secondsLeft: number | undefined
}

const REDRAW_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 3_000
/** Older samples do not count towards the rate. */
const RATE_WINDOW_MS = 15_000
/** Shorter waits need no time. */
const MIN_ELAPSED_SECONDS = 2
const MIN_BAR_COLUMNS = 8
const MAX_BAR_COLUMNS = 14
const SPINNER_FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

const formatRate = (rate: number) => `${rate >= 10 ? formatCount(Math.round(rate)) : rate.toFixed(1)}/s`

/** Rounds up to minutes from two minutes on. */
const formatRemaining = (seconds: number) => formatDuration(seconds < 120 ? seconds : Math.ceil(seconds / 60) * 60).replace(/ 0 \w+$/, '')

/** Drops the least important parts until the line fits. */
export function formatBarLine(
  { label, done, total, unit, note }: ProgressStep,
  { rate, secondsLeft }: Pace,
  columns: number,
  frame = 0,
): string {
  const spinner = SPINNER_FRAMES[frame % SPINNER_FRAMES.length] ?? ''
  const parts: { text: string; importance: number }[] = []
  const addPart = (importance: number, text: string | undefined) => {
    if (text) parts.push({ text, importance })
  }
  addPart(3, total !== null ? `${formatCount(done)}/${formatCount(total)} ${unit}` : done > 0 ? `${formatCount(done)} ${unit}` : undefined)
  addPart(1, note)
  addPart(2, rate > 0 ? formatRate(rate) : undefined)
  addPart(4, secondsLeft === undefined ? undefined : `${formatRemaining(secondsLeft)} left`)
  const share = total === null ? undefined : total === 0 ? 1 : Math.min(1, done / total)
  const percent = share === undefined ? '' : ` ${String(Math.floor(share * 100)).padStart(3)} %`
  const head = `${spinner} ${label}`
  // Independent of the text, so that the bar does not change its length.
  const length = Math.max(MIN_BAR_COLUMNS, Math.min(MAX_BAR_COLUMNS, Math.floor(columns / 4)))
  const bar = share === undefined ? '' : ` ${drawBar(share, length)}`
  const room = () =>
    columns - stringWidth(head) - stringWidth(bar) - stringWidth(percent) - parts.reduce((sum, { text }) => sum + 2 + stringWidth(text), 0)
  while (room() < 0 && parts.length > 0) {
    const least = parts.reduce((lowest, part) => (part.importance < lowest.importance ? part : lowest))
    parts.splice(parts.indexOf(least), 1)
  }
  return truncate(`${head}${bar}${percent}${parts.map(({ text }) => `  ${text}`).join('')}`, columns)
}

function drawBar(share: number, columns: number): string {
  const full = Math.round(share * columns)
  return '█'.repeat(full) + '░'.repeat(columns - full)
}

export function formatPlainLine({ label, done, total, unit, note }: ProgressStep, { rate, secondsLeft }: Pace): string {
  if (total === null && done === 0) return `${label}…`
  const parts = [total === null ? `${formatCount(done)} ${unit}` : `${formatCount(done)} of ${formatCount(total)} ${unit}`]
  if (note) parts.push(note)
  if (rate > 0) parts.push(formatRate(rate))
  if (secondsLeft !== undefined) parts.push(`${formatRemaining(secondsLeft)} left`)
  return `${label}: ${parts.join(', ')}`
}

/** Estimates the rate from recent samples; a sample is taken when the count changes, so that batches do not distort it. */
export class RateEstimator {
  #label = ''
  #samples: { at: number; done: number }[] = []

  estimate({ label, done, total }: ProgressStep, now: number): Pace {
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
  #stepStartedAt = 0
  #timer: NodeJS.Timeout | undefined
  #frame = 0
  #isDrawn = false
  #linesBelow = 0
  #lastLine = ''

  constructor(quiet = false, stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
    this.#canRedraw = canRedraw(stream)
    if (quiet) return
    this.#timer = setInterval(() => this.#draw(), this.#canRedraw ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS).unref()
  }

  show(step: ProgressStep): void {
    if (step.label !== this.#step?.label) this.#stepStartedAt = Date.now()
    this.#step = step
    this.#estimator.estimate(step, Date.now())
  }

  /** Prints a permanent line above the bar. */
  log = (line: string): void => {
    this.#erase()
    this.#stream.write(`${wrapForStream(stripControlSequences(line), this.#stream)}\n`)
  }

  /** Removes the bar until the next step, for example to prompt. */
  clear(): void {
    this.#erase()
    this.#echo.restore()
  }

  #erase(): void {
    this.#step = undefined
    if (this.#isDrawn) this.#stream.write(this.#formatErase())
    this.#isDrawn = false
    this.#linesBelow = 0
  }

  #formatErase(): string {
    return this.#linesBelow === 0 ? '\r\u001b[2K' : `\u001b[${this.#linesBelow}A\r\u001b[J`
  }

  end(): undefined {
    clearInterval(this.#timer)
    this.clear()
  }

  /** For work that goes on after Ctrl+C, which ends the command: says so. */
  async explainInterruption<T>(describe: () => string, work: () => Promise<T>): Promise<T> {
    const explain = () => {
      this.end()
      this.#stream.write(`\n${describe()}\n`)
    }
    process.prependListener('SIGINT', explain)
    try {
      return await work()
    } finally {
      process.removeListener('SIGINT', explain)
      this.clear()
    }
  }

  /** Without a terminal, a line that says nothing new is left out. */
  #writeLine(line: string): void {
    if (line !== this.#lastLine) this.#stream.write(`${line}\n`)
    this.#lastLine = line
  }

  /** Where nothing can be counted, the elapsed time shows that it goes on. */
  #formatElapsed({ done, total }: ProgressStep): string {
    const seconds = Math.floor((Date.now() - this.#stepStartedAt) / 1000)
    return total === null && done === 0 && seconds >= MIN_ELAPSED_SECONDS ? formatDuration(seconds) : ''
  }

  #draw(): void {
    if (!this.#step) return
    const pace = this.#estimator.estimate(this.#step, Date.now())
    if (!this.#canRedraw) return void this.#writeLine(formatPlainLine(this.#step, pace))
    // Changing the terminal costs a subprocess: not worth it for short waits without a total.
    if (this.#step.total !== null && this.#stream === process.stderr) this.#echo.disable()
    // Some terminals wrap as soon as the last column is written.
    const columns = (this.#stream.columns || 80) - 1
    const { below, note = this.#formatElapsed(this.#step), ...step } = this.#step
    const lines = below?.(columns) ?? []
    const bar = formatBarLine(below ? step : { ...step, note }, pace, columns, this.#frame++)
    this.#stream.write(this.#formatErase() + [colorBar(bar, this.#stream), ...lines].join('\n'))
    this.#isDrawn = true
    this.#linesBelow = lines.length
  }
}

const colorBar = (line: string, stream: NodeJS.WriteStream) =>
  line.replace(/█+/, (full) => paint('cyan', full, stream)).replace(/░+/, (rest) => paint('dim', rest, stream))
