/** Files that somebody named: in a sentence, why one cannot be read or written. */
import { readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { suggestWord } from '../../contract/suggest.ts'
import { describeSystemError, UsageError } from '../terminal/errors.ts'

/** A file that was to be read. What it is called in the sentence may be more than its path. */
export function createReadError(file: string, error: unknown): UsageError {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new UsageError(`There is no file ${file}.`, suggestFile(file))
  if (code === 'EISDIR') return new UsageError(`${file} is a folder, not a file.`)
  return new UsageError(`${file} cannot be read: ${describeSystemError(code) ?? message}.`)
}

/** A file that was to be written. */
export function createWriteError(file: string, error: unknown): UsageError {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new UsageError(`${file} cannot be written: there is no folder ${dirname(file)}.`)
  if (code === 'EISDIR') return new UsageError(`${file} cannot be written: it is a folder.`)
  return new UsageError(`${file} cannot be written: ${describeSystemError(code) ?? message}.`)
}

/** The file beside it that was probably meant, or where it was looked for: that may be another folder than somebody thinks. */
function suggestFile(file: string): string | undefined {
  const folder = resolve(dirname(file))
  const near = suggestWord(basename(file), listNames(folder))
  if (near !== undefined) return `Did you mean ${join(dirname(file), near)}?`
  return isAbsolute(file) ? undefined : `It was looked for in ${folder}.`
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // there is nothing to suggest
  }
}
