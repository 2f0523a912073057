/** Errors of SQLite, explained: a full disk and a damaged file. */
import { CadreError } from '../../src/contract/errors.ts'

const getCode = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? '')

export const isDamageError = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(getCode(error))

export const isStorageFullError = (error: unknown): boolean => error instanceof CadreError && error.code === 'STORAGE_FULL'

export function translateError(error: unknown, path: string): unknown {
  if (isDamageError(error)) return createDamageError(path, (error as Error).message, error)
  if (getCode(error).startsWith('SQLITE_FULL'))
    return new CadreError('STORAGE_FULL', 'The disk is full. Nothing was changed.', {
      hint: 'Free some space on the disk of CADRE_HOME and try again.',
      cause: error,
    })
  return error
}

export function createDamageError(path: string, problem: string, cause?: unknown): CadreError {
  return new CadreError('UNAVAILABLE', `The database ${path} is damaged: ${problem}.`, {
    hint:
      `Stop the daemon, restore the file from a backup, and delete ${path}-wal and ${path}-shm. ` +
      'Without a backup, see "Recover a damaged database" in docs/guides/backup-and-upgrade.md.',
    cause,
  })
}
