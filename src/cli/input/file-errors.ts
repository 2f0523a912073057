/** Errors for files that cannot be read or written. */
import { readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { suggestWord } from '../../contract/suggest.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { SYSTEM_ERRORS } from '../terminal/failures/describe-failure.ts'

export function createReadError(file: string, error: unknown): UsageError {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new UsageError(`File not found: ${file}.`, suggestFile(file))
  if (code === 'EISDIR') return new UsageError(`${file} is a folder, not a file.`)
  return new UsageError(`${file} cannot be read: ${SYSTEM_ERRORS[code] ?? message}.`)
}

export function createWriteError(file: string, error: unknown): UsageError {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new UsageError(`${file} cannot be written: the folder ${dirname(file)} does not exist.`)
  if (code === 'EISDIR') return new UsageError(`${file} cannot be written: it is a folder.`)
  return new UsageError(`${file} cannot be written: ${SYSTEM_ERRORS[code] ?? message}.`)
}

/** Suggests a similar file name, or shows the folder that was searched. */
function suggestFile(file: string): string | undefined {
  const folder = resolve(dirname(file))
  const near = suggestWord(basename(file), listNames(folder))
  if (near !== undefined) return `Did you mean ${join(dirname(file), near)}?`
  return isAbsolute(file) ? undefined : `Searched in ${folder}.`
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // nothing to suggest
  }
}
