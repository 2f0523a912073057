/** Watches a folder source and reports changes, debounced. */
import { type FSWatcher, watch } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { CadreError } from '../../../../src/contract/errors.ts'
import { createSelection, type Selection } from '../../../../src/files/selection.ts'
import { resolveFolder } from './find-folder-files.ts'
import { isWithin } from './read-file-within.ts'
import { walkFolder } from './walk-folder.ts'
import { WatchBudget } from './watch-budget.ts'

const DEBOUNCE_MS = 300
/** A file that changes all the time must not delay the report of others. */
const MAX_DEBOUNCE_MS = 5_000
const LIMIT_HINT = 'Increase fs.inotify.max_user_watches and max_user_instances, or exclude folders.'

export class FolderWatcher {
  readonly #configuration: Record<string, unknown>
  readonly #onChange: () => void
  readonly #onError: (error: Error) => void
  readonly #selection: Selection
  readonly #closed = new AbortController()
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #budget: WatchBudget
  #root = ''
  #timer: NodeJS.Timeout | undefined
  #firstChangeAt = 0

  /** After an error, the watcher is closed. */
  constructor(
    configuration: Record<string, unknown>,
    onChange: () => void,
    onError: (error: Error) => void,
    budget: WatchBudget = new WatchBudget(),
  ) {
    this.#configuration = configuration
    this.#onChange = onChange
    this.#onError = onError
    this.#budget = budget
    this.#selection = createSelection(configuration)
  }

  /** Resolves when every folder is watched; errors go to `onError`. */
  async start(): Promise<void> {
    try {
      this.#root = await resolveFolder(this.#configuration.path as string)
      await this.#add(this.#root)
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  close(): void {
    this.#closed.abort()
    clearTimeout(this.#timer)
    for (const path of [...this.#watchers.keys()]) this.#closeWatcher(path)
  }

  #fail(error: Error): void {
    if (this.#closed.signal.aborted) return
    this.close()
    this.#onError(error)
  }

  #closeWatcher(path: string): void {
    const watcher = this.#watchers.get(path)
    if (!watcher) return
    watcher.close()
    this.#watchers.delete(path)
    this.#budget.release()
  }

  /** Linux cannot watch recursively; only included folders are watched, which skips node_modules. */
  async #add(folder: string): Promise<void> {
    if (process.platform !== 'linux') return this.#watch(folder, true)
    const prefix = relative(this.#root, folder).split(sep).join('/')
    const selection: Selection = {
      maxFileSize: 0,
      includesFile: () => false,
      hasUnsupportedType: () => false,
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
    if (!this.#budget.take()) {
      const problem = `The folder has too many subfolders: the daemon watches at most ${this.#budget.limit.toLocaleString('en')} folders.`
      this.#fail(new CadreError('UNAVAILABLE', problem, { hint: LIMIT_HINT }))
      return
    }
    try {
      const watcher = watch(folder, { recursive }, (_, name) => void this.#handleEvent(folder, name))
      watcher.on('error', (error) => this.#handleWatchError(folder, error))
      this.#watchers.set(folder, watcher)
    } catch (error) {
      this.#budget.release()
      this.#handleWatchError(folder, error as NodeJS.ErrnoException)
    }
  }

  #handleWatchError(folder: string, error: NodeJS.ErrnoException): void {
    this.#closeWatcher(folder)
    // Deleted after it was listed, which the watcher of its parent reports, or without permission, so that its files cannot be read.
    if (['ENOENT', 'EPERM', 'EACCES'].includes(error.code ?? '') && folder !== this.#root) return
    const isLimit = error.code === 'ENOSPC' || error.code === 'EMFILE'
    const problem = 'The limit of the system for watched folders is reached.'
    this.#fail(isLimit ? new CadreError('UNAVAILABLE', problem, { hint: LIMIT_HINT, cause: error }) : error)
  }

  async #handleEvent(folder: string, name: string | null): Promise<void> {
    const path = name === null ? folder : join(folder, name)
    const known = this.#watchers.get(path)
    const kind = await this.#getKind(path)
    if (this.#closed.signal.aborted) return
    if (kind !== 'folder' && known && path !== this.#root) this.#unwatch(path)
    if (!(await this.#checkRoot())) return
    const wanted = relative(this.#root, path).split(sep).join('/').normalize('NFC')
    // A removed path may have been a file or a folder.
    const matters =
      (kind !== 'folder' && this.#selection.includesFile(wanted)) || (kind !== 'file' && this.#selection.includesFolder(wanted))
    if (!matters && !known && wanted !== '' && name !== '.gitignore') return
    this.#scheduleChange()
    if (kind === 'folder' && !known && process.platform === 'linux') await this.#addNewFolder(path)
  }

  /** Closes the watchers of a moved folder, whose paths have changed. */
  #unwatch(folder: string): void {
    for (const path of [...this.#watchers.keys()]) if (isWithin(folder, path)) this.#closeWatcher(path)
  }

  async #addNewFolder(folder: string): Promise<void> {
    try {
      await this.#add(folder)
      // Files that were added before the folder was watched caused no event.
      this.#scheduleChange()
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#handleWatchError(folder, error as NodeJS.ErrnoException)
    }
  }

  async #getKind(path: string): Promise<'file' | 'folder' | 'removed'> {
    try {
      const found = await lstat(path)
      return found.isDirectory() ? 'folder' : 'file'
    } catch {
      // Deleted or inaccessible.
      return 'removed'
    }
  }

  async #checkRoot(): Promise<boolean> {
    try {
      return (await stat(this.#root)).isDirectory()
    } catch (cause) {
      this.#fail(new CadreError('NOT_FOUND', `The folder ${this.#root} was removed.`, { cause }))
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
