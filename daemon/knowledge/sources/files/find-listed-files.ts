/** Finds the documents of file sources: files and folders listed in the configuration. */
import type { BigIntStats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, sep } from 'node:path'
import { CadreError, createValidationError } from '../../../../src/contract/errors.ts'
import { createSelection, getExtension } from '../../../../src/files/selection.ts'
import type { SourceDocument, SourceOptions } from '../source-document.ts'
import { createFileDocument, resolveHome, toPathError } from './find-folder-files.ts'
import { createEntry, walkFolder } from './walk-folder.ts'

interface ListedPath {
  path: string
  realPath: string
  label: string
  stats: BigIntStats
}

export async function* findListedFiles({ configuration, signal, workDirectory }: SourceOptions): AsyncGenerator<SourceDocument> {
  const { paths = [], file_types } = configuration as { paths?: string[]; file_types?: string[] }
  const selection = createSelection(configuration)
  const { listedPaths, missing } = await resolvePaths(paths)
  const skip = new Set([...listedPaths.map(({ realPath }) => realPath), ...(await resolveHome(workDirectory))])
  for (const { realPath, label, stats } of listedPaths) {
    signal.throwIfAborted()
    if (stats.isFile()) {
      const entry = createEntry(realPath, label, stats, selection.maxFileSize)
      const isExcludedType = file_types !== undefined && !file_types.some((type) => type.toLowerCase() === getExtension(realPath))
      if (isExcludedType) entry.problem = `This source reads ${file_types.join(', ')} files only.`
      yield createFileDocument(dirname(realPath), entry, selection.maxFileSize)
    } else if (stats.isDirectory()) {
      for await (const entry of walkFolder({ root: realPath, selection, gitignore: true, signal, skip }))
        yield createFileDocument(realPath, { ...entry, name: `${label}/${entry.name}` }, selection.maxFileSize)
    }
  }
  // Thrown last: the other paths have been read, and an error keeps the documents of the missing ones.
  const [first] = missing
  if (first) throw first
}

async function resolvePaths(paths: readonly string[]): Promise<{ listedPaths: ListedPath[]; missing: CadreError[] }> {
  const listedPaths = new Map<string, ListedPath>()
  const missing: CadreError[] = []
  for (const path of paths) {
    try {
      if (!isAbsolute(path)) throw createValidationError('configuration.paths', `must be absolute paths, not "${path}"`)
      const realPath = await realpath(path)
      const stats = await stat(realPath, { bigint: true })
      if (!listedPaths.has(realPath)) listedPaths.set(realPath, { path, realPath, stats, label: basename(path).normalize('NFC') })
    } catch (error) {
      missing.push(error instanceof CadreError ? error : toPathError(path, error))
    }
  }
  return { listedPaths: assignLabels([...listedPaths.values()]), missing }
}

/** Uses the last part of a path as its label, or the full path if two are equal. */
function assignLabels(listedPaths: ListedPath[]): ListedPath[] {
  const count = (label: string) => listedPaths.filter((listedPath) => listedPath.label === label).length
  return listedPaths.map((listedPath) =>
    count(listedPath.label) > 1 || listedPath.label === '' ? { ...listedPath, label: formatFullPath(listedPath.path) } : listedPath,
  )
}

function formatFullPath(path: string): string {
  return path
    .normalize('NFC')
    .split(sep)
    .filter((part) => part !== '')
    .join('/')
}
