/** The daemon's log: JSON lines in files rotated by size, with secrets redacted before writing. */
import { closeSync, fchmodSync, fstatSync, ftruncateSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { type Logger, pino } from 'pino'
import type { LogLevel } from '../../src/config.ts'
import type { Redactor } from '../secrets/redactor.ts'

const MAX_FILES = 5
const MAX_FILE_BYTES = 10 * 1024 * 1024
const MAX_BATCH_BYTES = 64 * 1024
const FLUSH_INTERVAL_MS = 100

interface LogOptions {
  path: string
  level: LogLevel
  redactor: Redactor
  /** Receives every line too, for `--verbose`. */
  echo?: (line: string) => void
  fileBytes?: number
}

export interface Log {
  logger: Logger
  /** Flushes pending lines and closes the file. */
  close(): void
}

export function openLog(options: LogOptions): Log {
  const file = new LogFile(options.path, options.fileBytes ?? MAX_FILE_BYTES)
  const { redactor, echo } = options
  const destination = {
    /** Set by pino to the level of the next line. */
    lastLevel: 0,
    write(line: string) {
      const clean = redactLine(line, redactor)
      file.add(clean)
      echo?.(clean)
      // A warning may be the last line before the process ends.
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

/** Redacting part of a number would leave invalid JSON. Such a line becomes the message of a new line. */
function redactLine(line: string, redactor: Redactor): string {
  const clean = redactor.redact(line)
  if (clean === line) return line
  try {
    JSON.parse(clean)
    return clean
  } catch {
    // No longer valid JSON.
    return formatWarning(clean.trimEnd())
  }
}

const formatWarning = (msg: string): string =>
  `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), pid: process.pid, msg })}\n`

/** Appends lines in batches. If the disk fails, lines are dropped and counted; the daemon keeps running. */
class LogFile {
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

  /** Written first when writing works again. */
  #formatDroppedNotice(): string {
    if (this.#dropped === 0) return ''
    return formatWarning(`${this.#dropped} log lines were dropped: ${this.#lastError}`)
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
      // The kernel releases the descriptor anyway; the error is reported with the next line.
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

  /** Detects that someone deleted or renamed the file. */
  #wasReplaced(descriptor: number): boolean {
    const current = statSync(this.#path, { throwIfNoEntry: false })
    return current === undefined || current.ino !== fstatSync(descriptor).ino
  }

  /** Shifts log.1 to log.2 and so on; the oldest file is overwritten. If a rename fails, the file just keeps growing. */
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

/** Removes a partial line. Only regular files can be truncated. */
function truncate(descriptor: number, size: number): void {
  try {
    ftruncateSync(descriptor, size)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  }
}
