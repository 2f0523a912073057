/** The files of LanceDB's tables: flushes them, which LanceDB leaves to the operating system, and notices changes while no daemon ran. */
import { hash } from 'node:crypto'
import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ignoreMissing, listFiles } from './list-files.ts'
import { syncDirectory } from './sync-directory.ts'

/** The catalog of LanceDB, which lists the tables. */
export const CATALOG_FOLDER = '__manifest'
const TABLE_SUFFIX = '.lance'
/** Of the record that a table is being rewritten. */
const REWRITE_SUFFIX = '.rewriting'
/** The number of versions that can follow. */
const VERSION_NAME = /^\d{20}\.manifest$/

export class TableFiles {
  readonly #folder: string
  /** Describes the files when the daemon stopped. */
  readonly #recordPath: string | undefined
  /** What else decides whether tables need work, such as the version of Cadre. */
  readonly #basis: string
  /** Size and time of each flushed file. */
  readonly #flushed = new Map<string, string>()
  /** Tables that are being rewritten. */
  readonly #rewrites = new Set<string>()

  constructor(folder: string, recordPath: string | undefined, basis: string) {
    this.#folder = folder
    this.#recordPath = recordPath
    this.#basis = basis
  }

  async listTables(): Promise<string[]> {
    const names = await readdir(this.#folder)
    return names.filter((name) => name.endsWith(TABLE_SUFFIX)).map((name) => name.slice(0, -TABLE_SUFFIX.length))
  }

  /** Removes what LanceDB leaves of a table, such as one whose creation was interrupted. */
  async removeTable(name: string): Promise<void> {
    await rm(this.#getTableFolder(name), { recursive: true, force: true })
    await this.#endRewrite(name)
  }

  /**
   * Records the newest version of a table before all of its rows are written to new files. Until these are flushed, a power cut can keep
   * their names and lose parts of their content, which LanceDB does not notice when it opens the table.
   */
  async beginRewrite(name: string): Promise<void> {
    const [newest = ''] = await this.#listVersions(name)
    const path = this.#getRewritePath(name)
    await writeFile(path, newest, { mode: 0o600 })
    this.#rewrites.add(name)
    await flushFile(path)
    await syncDirectory(this.#folder)
  }

  async #endRewrite(name: string): Promise<void> {
    if (!this.#rewrites.delete(name)) return
    await rm(this.#getRewritePath(name), { force: true })
    await syncDirectory(this.#folder)
  }

  /** Returns tables to the version before a rewrite that a kill or a power cut interrupted. Must be called before they are opened. */
  async undoRewrites(): Promise<void> {
    for (const file of (await readdir(this.#folder).catch(ignoreMissing)) ?? []) {
      if (!file.endsWith(REWRITE_SUFFIX)) continue
      const name = file.slice(0, -REWRITE_SUFFIX.length)
      this.#rewrites.add(name)
      await this.#removeNewerVersions(name, await readFile(join(this.#folder, file), 'utf8'))
      await this.#endRewrite(name)
    }
  }

  /** Removes a table whose recorded version LanceDB has already removed: it is built again. */
  async #removeNewerVersions(name: string, recorded: string): Promise<void> {
    if (!VERSION_NAME.test(recorded)) return // the power was cut before the rewrite began
    const versions = await this.#listVersions(name)
    const position = versions.indexOf(recorded)
    if (position < 0) return rm(this.#getTableFolder(name), { recursive: true, force: true })
    for (const version of versions.slice(0, position)) await rm(join(this.#getVersionsFolder(name), version))
    await syncDirectory(this.#getVersionsFolder(name))
  }

  /** Resolves when the commits of a table are on disk. */
  async flush(name: string): Promise<void> {
    const directories = new Set<string>()
    for (const folder of [this.#getTableFolder(name), join(this.#folder, CATALOG_FOLDER)])
      for (const [path, state] of await readStates(folder)) {
        if (this.#flushed.get(path) === state) continue
        await flushFile(path)
        this.#flushed.set(path, state)
        // New folders, too: all of them are below the folder of the store.
        for (let directory = dirname(path); directory.length >= this.#folder.length; directory = dirname(directory))
          directories.add(directory)
      }
    for (const directory of directories) await syncDirectory(directory)
    await this.#endRewrite(name)
  }

  /** Records the files when the daemon stops. Without the record, for example on a full disk, the next start checks the tables. */
  async recordStop(): Promise<void> {
    if (this.#recordPath) await writeFile(this.#recordPath, await this.#computeDigest(), { mode: 0o600 }).catch(() => undefined)
  }

  /** Returns whether files and basis are as the last daemon left them when it stopped. Removes the record: this daemon may be killed. */
  async takeStopRecord(): Promise<boolean> {
    if (!this.#recordPath) return false
    const recorded = await readFile(this.#recordPath, 'utf8').catch(() => undefined)
    if (recorded === undefined) return false
    await rm(this.#recordPath, { force: true })
    await syncDirectory(dirname(this.#recordPath))
    return recorded === (await this.#computeDigest())
  }

  async #computeDigest(): Promise<string> {
    const states = [...(await readStates(this.#folder))].map(([path, state]) => `${path.slice(this.#folder.length)} ${state}`)
    return hash('sha256', [this.#basis, ...states.sort()].join('\n'))
  }

  #getTableFolder(name: string): string {
    return join(this.#folder, name + TABLE_SUFFIX)
  }

  #getVersionsFolder(name: string): string {
    return join(this.#getTableFolder(name), '_versions')
  }

  /** Newest first. */
  async #listVersions(name: string): Promise<string[]> {
    const names = (await readdir(this.#getVersionsFolder(name)).catch(ignoreMissing)) ?? []
    return names.filter((version) => VERSION_NAME.test(version)).sort()
  }

  #getRewritePath(name: string): string {
    return join(this.#folder, name + REWRITE_SUFFIX)
  }
}

async function readStates(folder: string): Promise<Map<string, string>> {
  const states = new Map<string, string>()
  for (const path of (await listFiles(folder).catch(ignoreMissing)) ?? []) {
    const found = await stat(path).catch(ignoreMissing) // LanceDB removes old versions meanwhile
    if (found) states.set(path, `${found.size} ${found.mtimeMs}`)
  }
  return states
}

async function flushFile(path: string): Promise<void> {
  const file = await open(path, 'r+').catch(ignoreMissing)
  try {
    await file?.datasync()
  } finally {
    await file?.close()
  }
}
