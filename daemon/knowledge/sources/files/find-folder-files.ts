/** Sources of type folder: a directory on the daemon's disk, and everything wanted below it. */
import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { CadreError, createValidationError } from '../../../../src/contract/errors.ts'
import type { SourceDocument, SourceOptions } from '../source-document.ts'
import { readFileWithin, toReadError } from './read-file-within.ts'
import { createSelection } from './selection.ts'
import { type FileEntry, walkFolder } from './walk-folder.ts'

export async function* findFolderFiles({ configuration, signal, workDirectory: work }: SourceOptions): AsyncGenerator<SourceDocument> {
  const { path, gitignore = true } = configuration as { path: string; gitignore?: boolean }
  const root = await resolveFolder(path, 'configuration.path')
  const selection = createSelection(configuration)
  const before = await getIdentity(root)
  const skip = new Set(await findHome(work))
  if (skip.has(root)) throw createValidationError('configuration.path', `${path} is where Cadre keeps its own files`)
  for await (const entry of walkFolder({ root, selection, gitignore, signal, skip }))
    yield createFileDocument(root, entry, selection.maxFileSize)
  // A disk that was unplugged leaves an empty folder behind: nothing of it may be taken for deleted.
  if ((await getIdentity(root)) !== before) throw new CadreError('UNAVAILABLE', `The folder ${path} went away while it was read.`)
}

/** The folder's real path, or why it cannot be read. */
export async function resolveFolder(path: string, field: string): Promise<string> {
  if (!isAbsolute(path)) throw createValidationError(field, `must be an absolute path, not "${path}"`)
  try {
    const root = await realpath(path)
    if (!(await stat(root)).isDirectory()) throw createValidationError(field, `${path} is not a folder`)
    return root
  } catch (error) {
    throw error instanceof CadreError ? error : toPathError(path, error)
  }
}

/** Why a configured path cannot be read. */
export function toPathError(path: string, error: unknown): CadreError {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new CadreError('NOT_FOUND', `There is nothing at ${path}.`, {
      hint: "Bring it back, or change the source's configuration.",
      cause: error,
    })
  return new CadreError('UNAVAILABLE', `${path} cannot be read. ${toReadError(error).message}`, { cause: error })
}

export function createFileDocument(root: string, { path, name, fingerprint, problem }: FileEntry, limit: number): SourceDocument {
  return {
    name,
    fingerprint,
    metadata: { path },
    ...(problem === undefined ? {} : { problem }),
    read: (signal) => readFileWithin(root, path, limit, signal),
  }
}

/** Cadre's own files are no documents, also of those who add their whole disk. */
export async function findHome(work: string): Promise<string[]> {
  try {
    return [await realpath(dirname(dirname(work)))]
  } catch {
    // A home that does not exist yet has no files.
    return []
  }
}

async function getIdentity(root: string): Promise<string> {
  try {
    const { dev, ino } = await stat(root, { bigint: true })
    return `${dev}-${ino}`
  } catch {
    // Gone altogether: no identity is like the one it had.
    return 'gone'
  }
}
