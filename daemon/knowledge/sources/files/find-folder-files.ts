/** Finds the documents of folder sources, and helpers for paths on disk. */
import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { CadreError, createValidationError } from '../../../../src/contract/errors.ts'
import { createSelection } from '../../../../src/files/selection.ts'
import type { SourceDocument, SourceOptions } from '../source-document.ts'
import { readFileWithin, toReadError } from './read-file-within.ts'
import { type FileEntry, walkFolder } from './walk-folder.ts'

export async function* findFolderFiles({ configuration, signal, workDirectory }: SourceOptions): AsyncGenerator<SourceDocument> {
  const { path, gitignore = true } = configuration as { path: string; gitignore?: boolean }
  const root = await resolveFolder(path)
  const selection = createSelection(configuration)
  const before = await getIdentity(root)
  const skip = new Set(await resolveHome(workDirectory))
  if (skip.has(root)) throw createValidationError('configuration.path', `${path} is the home directory of Cadre`)
  for await (const entry of walkFolder({ root, selection, gitignore, signal, skip }))
    yield createFileDocument(root, entry, selection.maxFileSize)
  // An unmounted disk leaves an empty folder; its documents must not be deleted.
  if ((await getIdentity(root)) !== before) throw new CadreError('UNAVAILABLE', `The folder ${path} was removed while it was read.`)
}

/** Returns the real path of a folder. */
export async function resolveFolder(path: string): Promise<string> {
  if (!isAbsolute(path)) throw createValidationError('configuration.path', `must be an absolute path, not "${path}"`)
  try {
    const root = await realpath(path)
    if (!(await stat(root)).isDirectory()) throw createValidationError('configuration.path', `${path} is not a folder`)
    return root
  } catch (error) {
    throw error instanceof CadreError ? error : toPathError(path, error)
  }
}

export function toPathError(path: string, error: unknown): CadreError {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new CadreError('NOT_FOUND', `${path} does not exist.`, {
      hint: 'Restore it, or update the configuration of the source.',
      cause: error,
    })
  return new CadreError('UNAVAILABLE', `${path} cannot be read. ${toReadError(error).message}`, { cause: error })
}

export function createFileDocument(
  root: string,
  { path, name, fingerprint, problem, skipReason }: FileEntry,
  limit: number,
): SourceDocument {
  return {
    name,
    fingerprint,
    metadata: { path },
    problem,
    skipReason,
    read: (signal) => readFileWithin(root, path, limit, signal),
  }
}

/** Returns the home of Cadre, whose files are never documents. */
export async function resolveHome(workDirectory: string): Promise<string[]> {
  try {
    return [await realpath(dirname(dirname(workDirectory)))]
  } catch {
    // The home does not exist yet.
    return []
  }
}

async function getIdentity(root: string): Promise<string> {
  try {
    const { dev, ino } = await stat(root, { bigint: true })
    return `${dev}-${ino}`
  } catch {
    // The folder was removed. This value equals no real identity.
    return 'removed'
  }
}
