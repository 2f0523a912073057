/** The daemon's log: JSON lines in a file that turns over by size, with every secret taken out before it is written. */
import { closeSync, fchmodSync, fstatSync, ftruncateSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { type Logger, pino } from 'pino'
import type { LogLevel } from '../../src/config.ts'
import type { Redactor } from '../secrets/redactor.ts'

const MAX_FILES = 5
const MAX_FILE_BYTES = 10 * 1024 * 1024
const MAX_BATCH_BYTES = 64 * 1024
const FLUSH_INTERVAL_MS = 100

export interface LogOptions {
  path: string
  level: LogLevel
  redactor: Redactor
  /** Also receives every line, for `--verbose`. */
  echo?: (line: string) => void
  fileBytes?: number
}

export interface Log {
  logger: Logger
  /** Puts on disk what still waits, then takes no more. */
  close(): void
}

export function openLog(options: LogOptions): Log {
  const file = new LogFile(options.path, options.fileBytes ?? MAX_FILE_BYTES)
  const { redactor, echo } = options
  const destination = {
    /** Pino says here of what level the next line is. */
    lastLevel: 0,
    write(line: string) {
      const clean = redactLine(line, redactor)
      file.add(clean)
      echo?.(clean)
      // A warning may be the last thing this process says.
      if (this.lastLevel >= 40) file.flush()
    },
    [Symbol.for('pino.metadata')]: true,
  }
  const logger = pino(
    {
      level: options.level,
      timestamp: pino.stdTimeFunctions.isoTime,
      base: { pid: process.pid },
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
  return { logger, close: () => file.close() }
}

/** Taking a secret out of a number would leave a line that no reader can parse; such a line goes into a string whole. */
function redactLine(line: string, redactor: Redactor): string {
  const clean = redactor.redact(line)
  if (clean === line) return line
  try {
    JSON.parse(clean)
    return clean
  } catch {
    // Not JSON any more, as foreseen: kept as the text of a line of its own.
    return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), pid: process.pid, msg: clean.trimEnd() })}\n`
  }
}

/** Appends lines in batches; a disk that cannot take them costs lines, which are counted, and never the daemon. */
export class LogFile {
  readonly #path: string
  readonly #maxBytes: number
  #descriptor: number | undefined
  #bytes = 0
  #pending: string[] = []
  #pendingBytes = 0
  #dropped = 0
  #lastError = ''
  #timer: NodeJS.Timeout | undefined

  constructor(path: string, limit: number) {
    this.#path = path
    this.#maxBytes = limit
  }

  add(line: string): void {
    this.#pending.push(line)
    this.#pendingBytes += line.length
    if (this.#pendingBytes >= MAX_BATCH_BYTES) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_INTERVAL_MS).unref()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#pending
    if (lines.length === 0) return
    this.#pending = []
    this.#pendingBytes = 0
    try {
      const batch = Buffer.from(this.#formatDroppedNotice() + lines.join(''))
      this.#prepareFor(batch.length)
      this.#append(batch)
      this.#dropped = 0
    } catch (error) {
      this.#dropped += lines.length
      this.#lastError = (error as Error).message
      this.#closeFile()
    }
  }

  close(): void {
    this.flush()
    this.#closeFile()
  }

  /** The first thing that is written once writing works again. */
  #formatDroppedNotice(): string {
    if (this.#dropped === 0) return ''
    return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), pid: process.pid, msg: `${this.#dropped} log lines were dropped: ${this.#lastError}` })}\n`
  }

  #open(): number {
    const descriptor = openSync(this.#path, 'a', 0o600)
    this.#descriptor = descriptor
    fchmodSync(descriptor, 0o600)
    this.#bytes = fstatSync(descriptor).size
    return descriptor
  }

  #closeFile(): void {
    const descriptor = this.#descriptor
    this.#descriptor = undefined
    if (descriptor === undefined) return
    try {
      closeSync(descriptor)
    } catch (error) {
      // The kernel gives the descriptor back even so; what it could not keep is told with the next line.
      this.#lastError = (error as Error).message
    }
  }

  #prepareFor(bytes: number): void {
    if (this.#descriptor !== undefined && this.#wasReplaced(this.#descriptor)) this.#closeFile()
    if (this.#descriptor === undefined) this.#open()
    if (this.#bytes === 0 || this.#bytes + bytes <= this.#maxBytes) return
    this.#closeFile()
    this.#rotate()
    this.#open()
  }

  /** Somebody deleted or renamed the file: what is written to the old one, nobody would find. */
  #wasReplaced(descriptor: number): boolean {
    const named = statSync(this.#path, { throwIfNoEntry: false })
    return named === undefined || named.ino !== fstatSync(descriptor).ino
  }

  /** The oldest is written over by the second oldest, and so on. A name that cannot move is left: a long file loses nothing. */
  #rotate(): void {
    for (let age = MAX_FILES - 1; age >= 1; age--) {
      try {
        renameSync(age === 1 ? this.#path : `${this.#path}.${age - 1}`, `${this.#path}.${age}`)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue
        return
      }
    }
  }

  #append(batch: Buffer): void {
    const descriptor = this.#descriptor ?? this.#open()
    const before = this.#bytes
    try {
      for (let written = 0; written < batch.length; ) written += writeSync(descriptor, batch, written)
      this.#bytes += batch.length
    } catch (error) {
      truncate(descriptor, before)
      throw error
    }
  }
}

/** Half a line would spoil the next one. What is not a regular file cannot be cut, and need not be. */
function truncate(descriptor: number, size: number): void {
  try {
    ftruncateSync(descriptor, size)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  }
}
