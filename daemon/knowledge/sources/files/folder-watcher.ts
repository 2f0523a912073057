/** Watching a folder source: one call after changes have settled, whatever they were. */
import { type FSWatcher, watch } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { CadreError } from '../../../../src/contract/errors.ts'
import { resolveFolder } from './find-folder-files.ts'
import { isWithin } from './read-file-within.ts'
import { createSelection, type Selection } from './selection.ts'
import { walkFolder } from './walk-folder.ts'

const DEBOUNCE_MS = 300
/** A file that never stops changing must not hide the others. */
const MAX_DEBOUNCE_MS = 5_000

export interface FolderWatch {
  /** Fulfilled once every folder is watched. */
  readonly ready: Promise<void>
  close(): void
}

export function watchFolderTree(configuration: Record<string, unknown>, changed: () => void, onError: (error: Error) => void): FolderWatch {
  const watching = new FolderWatcher(configuration, changed, onError)
  return { ready: watching.start(), close: () => watching.close() }
}

class FolderWatcher {
  readonly #configuration: Record<string, unknown>
  readonly #onChange: () => void
  readonly #onError: (error: Error) => void
  readonly #selection: Selection
  readonly #closed = new AbortController()
  readonly #watchers = new Map<string, FSWatcher>()
  #root = ''
  #timer: NodeJS.Timeout | undefined
  #firstChangeAt = 0
  #isExhausted = false

  constructor(configuration: Record<string, unknown>, changed: () => void, onError: (error: Error) => void) {
    this.#configuration = configuration
    this.#onChange = changed
    this.#onError = onError
    this.#selection = createSelection(configuration)
  }

  async start(): Promise<void> {
    try {
      this.#root = await resolveFolder(this.#configuration.path as string, 'configuration.path')
      await this.#add(this.#root)
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#onError(error as Error)
    }
  }

  close(): void {
    this.#closed.abort()
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Linux watches one folder at a time; only those a walk enters are watched, which spares node_modules and its like. */
  async #add(folder: string): Promise<void> {
    if (process.platform !== 'linux') return this.#watch(folder, true)
    const prefix = relative(this.#root, folder).split(sep).join('/')
    const selection: Selection = {
      maxFileSize: 0,
      // Files are not looked at: this walk is for the folders alone.
      includesFile: () => false,
      includesFolder: (name) => this.#selection.includesFolder(prefix === '' ? name : `${prefix}/${name}`),
    }
    const walked = walkFolder({
      root: folder,
      selection,
      gitignore: this.#configuration.gitignore !== false,
      signal: this.#closed.signal,
      onFolder: (path) => this.#watch(path, false),
    })
    for await (const _ of walked);
  }

  #watch(folder: string, recursive: boolean): void {
    if (this.#closed.signal.aborted || this.#watchers.has(folder)) return
    try {
      const watcher = watch(folder, { recursive }, (_, name) => void this.#handleEvent(folder, name))
      watcher.on('error', (error) => this.#handleWatchError(folder, error))
      this.#watchers.set(folder, watcher)
    } catch (error) {
      this.#handleWatchError(folder, error as NodeJS.ErrnoException)
    }
  }

  #handleWatchError(folder: string, error: NodeJS.ErrnoException): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
    // Deleted between being listed and being watched, which its parent tells of.
    if ((error.code === 'ENOENT' || error.code === 'EPERM') && folder !== this.#root) return
    if (error.code !== 'ENOSPC' && error.code !== 'EMFILE') {
      this.#onError(error)
      return
    }
    if (this.#isExhausted) return
    this.#isExhausted = true
    const hint =
      'Raise fs.inotify.max_user_watches and max_user_instances, exclude folders, or give the source a schedule instead of watch.'
    this.#onError(
      new CadreError('UNAVAILABLE', `The system lets no more folders be watched; changes in ${folder} and elsewhere will be missed.`, {
        hint,
        cause: error,
      }),
    )
  }

  async #handleEvent(folder: string, name: string | null): Promise<void> {
    const path = name === null ? folder : join(folder, name)
    const known = this.#watchers.get(path)
    const kind = await this.#getKind(path)
    if (this.#closed.signal.aborted) return
    if (kind !== 'folder' && known && path !== this.#root) this.#unwatch(path)
    if (!(await this.#checkRoot())) return
    const wanted = relative(this.#root, path).split(sep).join('/').normalize('NFC')
    // What is gone may have been a file or a folder.
    const matters =
      (kind !== 'folder' && this.#selection.includesFile(wanted)) || (kind !== 'file' && this.#selection.includesFolder(wanted))
    if (!matters && !known && wanted !== '' && name !== '.gitignore') return
    this.#scheduleChange()
    if (kind === 'folder' && !known && process.platform === 'linux') await this.#addNewFolder(path)
  }

  /** A folder that was moved takes its watches along, under names that are no longer true. */
  #unwatch(folder: string): void {
    for (const [path, watcher] of this.#watchers) {
      if (!isWithin(folder, path)) continue
      watcher.close()
      this.#watchers.delete(path)
    }
  }

  async #addNewFolder(folder: string): Promise<void> {
    try {
      await this.#add(folder)
      // What was put into it before it was watched made no event of its own.
      this.#scheduleChange()
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#handleWatchError(folder, error as NodeJS.ErrnoException)
    }
  }

  async #getKind(path: string): Promise<'file' | 'folder' | 'gone'> {
    try {
      const found = await lstat(path)
      return found.isDirectory() ? 'folder' : 'file'
    } catch {
      // Deleted, or as good as.
      return 'gone'
    }
  }

  async #checkRoot(): Promise<boolean> {
    try {
      return (await stat(this.#root)).isDirectory()
    } catch (cause) {
      if (this.#closed.signal.aborted) return false
      this.close()
      this.#onError(new CadreError('NOT_FOUND', `The folder ${this.#root} is gone; it is no longer watched.`, { cause }))
      return false
    }
  }

  #scheduleChange(): void {
    if (this.#closed.signal.aborted) return
    const now = performance.now()
    if (this.#timer === undefined) this.#firstChangeAt = now
    clearTimeout(this.#timer)
    const wait = Math.max(0, Math.min(DEBOUNCE_MS, this.#firstChangeAt + MAX_DEBOUNCE_MS - now))
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#onChange()
    }, wait)
  }
}
