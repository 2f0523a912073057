/** Errors for backups that cannot be read. */
import { ArchiveError } from '../../backup/tar.ts'
import { CadreError } from '../../contract/errors.ts'
import { createReadError } from '../input/file-errors.ts'

/** Returns a handler that says what is wrong with a backup, and what to do. */
export const createArchiveError =
  (file: string, hint: string) =>
  (error: unknown): never => {
    if (error instanceof ArchiveError)
      throw new CadreError('VALIDATION_ERROR', `${file} cannot be restored: ${error.message}.`, {
        hint,
        cause: error,
      })
    if ((error as NodeJS.ErrnoException).path === file) throw createReadError(file, error)
    throw error
  }
