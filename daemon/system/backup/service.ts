/** Creates backups of the home while the daemon runs: on request and every day. */
import { randomUUID } from 'node:crypto'
import { on } from 'node:events'
import { access, constants, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Static } from 'typebox'
import { BACKUP_EXTENSION } from '../../../src/backup/format.ts'
import type { Paths } from '../../../src/config.ts'
import { ensureDirectory } from '../../../src/config.ts'
import { CadreError, createValidationError } from '../../../src/contract/errors.ts'
import type { BACKUP_EVENTS, backupRoutes } from '../../../src/contract/families/backups.ts'
import type { StreamEvent } from '../../../src/contract/route.ts'
import type { Shared } from '../../shared-services.ts'
import type { OriginalStore } from '../../store/original-store.ts'
import { getThreadUrl } from '../../workers/start-worker.ts'
import { recordBackup } from '../store.ts'
import type { BackupMessage } from './worker.ts'
import type { BackupTask } from './write-backup.ts'

type BackupInput = Static<typeof backupRoutes.create.body>
type Backup = Static<typeof BACKUP_EVENTS.backup_end>

interface BackupDependencies extends Shared<'database' | 'logger'> {
  originals: OriginalStore
  paths: Paths
  version: string
}

const WORKER = { built: 'dist/daemon/system/backup-worker.js', source: new URL('worker.ts', import.meta.url) }
const DAILY_NAME = /^cadre-\d{4}-\d\d-\d\d\.tar\.gz$/
/** What a kill leaves. */
const PARTIAL_NAME = /^\.cadre-\d{4}-\d\d-\d\d\.tar\.gz\.partial$/

export class BackupService {
  readonly #dependencies: BackupDependencies
  readonly #closing = new AbortController()
  #running: Promise<unknown> | undefined

  constructor(dependencies: BackupDependencies) {
    this.#dependencies = dependencies
  }

  /** Throws before the first event if the file cannot be written. */
  async create({ path, include_index = false, overwrite = false }: BackupInput, signal: AbortSignal): Promise<AsyncIterable<StreamEvent>> {
    this.#requireLocalStores()
    await this.#checkPath(path, overwrite)
    this.#requireIdle()
    return this.#stream(path, include_index, AbortSignal.any([signal, this.#closing.signal]))
  }

  /** Creates the backup of a day if it does not exist, and removes all but the newest. */
  async createDaily(day: string, keep: number, signal: AbortSignal): Promise<void> {
    const folder = join(this.#dependencies.paths.home, 'backups')
    ensureDirectory(folder)
    const path = join(folder, `cadre-${day}${BACKUP_EXTENSION}`)
    if (!(await stat(path).catch(() => undefined)))
      for await (const _ of await this.create({ path, overwrite: true }, signal)) {
        // Nobody follows its progress.
      }
    const names = await readdir(folder)
    const partial = this.#running ? [] : names.filter((name) => PARTIAL_NAME.test(name))
    const complete = names.filter((name) => DAILY_NAME.test(name)).sort()
    for (const name of [...partial, ...complete.slice(0, -keep)]) await rm(join(folder, name), { force: true })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  #requireLocalStores(): void {
    const { database, originals } = this.#dependencies
    if (originals.isRemote)
      throw new CadreError('CONFLICT', 'The documents are not in the home but in a bucket.', {
        hint: 'Back up the bucket and the database with their own tools, or copy everything to another home: cadre migrate',
      })
    if (!database.isRemote) return
    throw new CadreError('CONFLICT', `The records are not in the home but on the libSQL server ${database.location}.`, {
      hint: 'Back them up with the tools of the server, and copy the folder documents of the home.',
    })
  }

  #requireIdle(): void {
    if (this.#running) throw new CadreError('CONFLICT', 'Another backup is being written.', { hint: 'Wait until it is complete.' })
  }

  async #checkPath(path: string, overwrite: boolean): Promise<void> {
    const { home } = this.#dependencies.paths
    if (!isAbsolute(path)) throw createValidationError('path', 'must be an absolute path')
    if (path.includes('\0')) throw createValidationError('path', 'must not contain a NUL character')
    const inside = relative(home, path)
    if (!inside.startsWith('..') && !isAbsolute(inside) && dirname(inside) !== 'backups')
      throw createValidationError('path', 'must not be in the home', `Choose a file outside ${home}, best on another disk.`)
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory()) throw createValidationError('path', 'is a directory', `Name a file, such as ${join(path, 'cadre.tar.gz')}`)
    if (found && !overwrite)
      throw new CadreError('CONFLICT', `${path} already exists.`, {
        hint: 'Choose another file, or overwrite it with --force ("overwrite" in the API).',
      })
    await access(dirname(path), constants.W_OK | constants.X_OK).catch((error: NodeJS.ErrnoException) => {
      throw createValidationError(
        'path',
        `cannot be written: ${error.code === 'ENOENT' ? `the directory ${dirname(path)} does not exist` : error.message}`,
      )
    })
  }

  async *#stream(path: string, includeIndex: boolean, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const { paths, originals, version, database, logger } = this.#dependencies
    this.#requireIdle()
    let end = () => {}
    this.#running = new Promise<void>((resolve) => {
      end = resolve
    })
    const task: BackupTask = {
      ...paths,
      target: path,
      partial: join(dirname(path), `.${basename(path)}.partial`),
      snapshot: join(paths.work, `backup-${randomUUID()}.db`),
      includeIndex,
      version,
    }
    const releaseOriginals = originals.hold()
    try {
      for await (const message of runWorker(task, signal)) {
        if (message.kind === 'failed') throw toError(message, path)
        if (message.kind === 'progress') yield { event: 'progress', data: { bytes: message.bytes, total_bytes: message.total_bytes } }
        else {
          const backup: Backup = { path, ...message.backup }
          await database.write((transaction) => recordBackup(transaction, backup.created_at))
          logger.info({ path, size: backup.size, files: backup.files }, 'backup written')
          yield { event: 'backup_end', data: backup }
        }
      }
    } finally {
      // A name that is too long cannot be removed either. The backup must end nevertheless: the next one and the stop wait for it.
      await Promise.allSettled([rm(task.partial, { force: true }), rm(task.snapshot, { force: true })])
      await releaseOriginals()
      this.#running = undefined
      end()
    }
  }
}

/** Ends after the last message. If the signal is aborted or the reader stops, the thread is terminated. */
async function* runWorker(task: BackupTask, signal: AbortSignal): AsyncGenerator<BackupMessage> {
  const worker = new Worker(getThreadUrl(WORKER), { name: 'backup', workerData: task })
  try {
    for await (const [message] of on(worker, 'message', { signal, close: ['exit'] }) as AsyncIterable<[BackupMessage]>) {
      yield message
      if (message.kind !== 'progress') return
    }
    throw new Error('The backup worker ended early.')
  } catch (error) {
    if (signal.aborted) throw new CadreError('UNAVAILABLE', 'The backup was aborted.', { cause: error })
    throw error
  } finally {
    await worker.terminate()
  }
}

function toError({ message, code }: BackupMessage & { kind: 'failed' }, path: string): CadreError {
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_FULL')
    return new CadreError('STORAGE_FULL', `No space left for the backup ${path}, or for a copy of the records in the home.`)
  return new CadreError('UNAVAILABLE', `The backup could not be written: ${message}`)
}
