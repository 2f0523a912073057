/** Finds documents whose files have changed or were deleted since they were read. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createDeadlineSignal, scaleTimeout } from '../../../src/deadline.ts'
import { raceAbort } from '../../async/abortable.ts'
import type { DatabaseReader } from '../../store/database.ts'
import { type FileRecord, listFileRecords } from './search-store.ts'

/** Most answers cite a few documents. */
const MAX_CHECKED_FILES = 200
/** A disk that does not respond must not delay answers. */
const TIMEOUT_MS = 500

export class ChangedFiles {
  /** Files whose disk has not responded yet. They are not checked again meanwhile. */
  readonly #pending = new Set<string>()

  /** Returns the ids of documents that have changed. Documents without a file on this machine are unchanged. */
  async find(reader: DatabaseReader, documentIds: readonly string[]): Promise<Set<string>> {
    const records = await listFileRecords(reader, documentIds.slice(0, MAX_CHECKED_FILES))
    if (records.length === 0) return new Set()
    const changed = new Set<string>()
    const checks = records.map(async (record) => {
      if (await this.#check(record)) changed.add(record.id)
    })
    await raceAbort(Promise.all(checks), createDeadlineSignal(scaleTimeout(TIMEOUT_MS))).catch(() => undefined)
    return new Set(changed) // a late answer does not change the result
  }

  async #check(record: FileRecord): Promise<boolean> {
    if (this.#pending.has(record.path)) return false
    this.#pending.add(record.path)
    try {
      return await hasChanged(record)
    } finally {
      this.#pending.delete(record.path)
    }
  }
}

/** Compares size and modification time. The change time also changes if a file is only renamed or its permissions are set. */
async function hasChanged({ path, name, fingerprint }: FileRecord): Promise<boolean> {
  try {
    const { size, mtimeNs } = await stat(path, { bigint: true })
    return /^\d+-\d+-/.test(fingerprint) && !fingerprint.startsWith(`${size}-${mtimeNs}-`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return false
    // A disk that is not mounted, or the folder of another machine, says nothing about the file.
    return stat(join(path, ...name.split('/').map(() => '..'))).then(
      () => true,
      () => false,
    )
  }
}
