/** The input history on disk, shared by all chats of a home. */
import { appendFileSync, chmodSync, closeSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { isQuitCommand } from './slash-commands.ts'

/** Each generation of the file; together with the previous one, at most twice as much is stored. */
const MAX_FILE_BYTES = 256 * 1024
/** Longer texts are usually pasted data and are kept only until the chat ends. */
const MAX_ENTRY_LENGTH = 10_000
export const MAX_ENTRIES = 1_000
/** A lock that is older was left by a process that was killed. */
const STALE_LOCK_MS = 10_000

/**
 * One JSON string per line. Each entry is appended with a single write, so that several chats do not mix up their lines. A full file is
 * renamed and a new one started, so that no entry is lost while another chat appends. Commands that quit are left out: almost every chat
 * ends with one, and Up should recall the last question.
 */
export class HistoryFile {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Returns the entries, oldest first; each text once, at its last position. Skips lines that cannot be read. */
  read(): string[] {
    const lines = [this.#previousPath, this.#path].flatMap((path) => readText(path).split('\n'))
    const entries = new Set<string>()
    for (const line of lines) {
      const entry = parseEntry(line)
      if (entry === undefined || isQuitCommand(entry)) continue
      entries.delete(entry)
      entries.add(entry)
    }
    return [...entries].slice(-MAX_ENTRIES)
  }

  append(text: string): void {
    if (text.length > MAX_ENTRY_LENGTH || isQuitCommand(text)) return
    this.#rotate()
    appendFileSync(this.#path, `${JSON.stringify(text)}\n`, { mode: 0o600 })
  }

  get #previousPath(): string {
    return `${this.#path}.1`
  }

  #isFull(): boolean {
    return (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) > MAX_FILE_BYTES
  }

  /** Only one chat renames a full file: a second rename would replace the previous generation with an almost empty one. */
  #rotate(): void {
    if (!this.#isFull()) return
    const lock = `${this.#path}.lock`
    try {
      closeSync(openSync(lock, 'wx', 0o600))
    } catch {
      if (Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > STALE_LOCK_MS) rmSync(lock, { force: true })
      return
    }
    try {
      if (!this.#isFull()) return
      renameSync(this.#path, this.#previousPath)
      chmodSync(this.#previousPath, 0o600)
    } finally {
      rmSync(lock, { force: true })
    }
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

function parseEntry(line: string): string | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    return typeof entry === 'string' && entry.trim() !== '' ? entry : undefined
  } catch {
    return undefined // an empty line, or one that was cut off
  }
}
