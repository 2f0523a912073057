/** Removes what a kill left in the work directory: directories of deleted sources, and the snapshot of a backup. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../../logging/logger.ts'
import type { Database } from '../../../store/database.ts'
import { sourceRecords } from '../../store.ts'

/** Must end before a backup starts, which writes its snapshot there. */
export async function sweepWorkDirectory(database: Database, workDirectory: string, logger: Logger): Promise<void> {
  try {
    for (const name of await readdir(workDirectory))
      if (!(await sourceRecords.has(database, name))) await rm(join(workDirectory, name), { recursive: true, force: true })
  } catch (error) {
    logger.error({ err: error }, 'cannot remove old work files')
  }
}
