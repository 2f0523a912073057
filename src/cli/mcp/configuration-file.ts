/** Reads and replaces a configuration file of another program. */
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createReadError, createWriteError } from '../input/file-errors.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

/** Returns an empty text if there is no file. */
export function readConfigurationFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw createReadError(file, error)
  }
}

/** Replaces the file at once, so that the program never reads half of it. Fails if it was changed since it was read. */
export function replaceConfigurationFile(file: string, before: string, after: string): void {
  // The file may be a link to a folder with all settings of the user.
  const target = existsSync(file) ? realpathSync(file) : file
  if (readConfigurationFile(target) !== before) throw new UsageError(`${file} was changed by another program. Try again.`)
  const partial = `${target}.cadre-${process.pid}`
  try {
    mkdirSync(dirname(target), { recursive: true })
    const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o600
    writeFileSync(partial, after, { mode: mode & 0o777, flush: true })
    renameSync(partial, target)
  } catch (error) {
    rmSync(partial, { force: true })
    throw createWriteError(file, error)
  }
}
