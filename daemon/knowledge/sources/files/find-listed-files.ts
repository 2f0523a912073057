/** Finds the documents of file sources: files and folders listed in the configuration. */
import type { BigIntStats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, sep } from 'node:path'
import { CadreError, createValidationError } from '../../../../src/contract/errors.ts'
import type { SourceDocument, SourceOptions } from '../source-document.ts'
import { createFileDocument, findHome, toPathError } from './find-folder-files.ts'
import { createSelection, getExtension } from './selection.ts'
import { createEntry, walkFolder } from './walk-folder.ts'

interface ListedPath {
  path: string
  realPath: string
  label: string
  stats: BigIntStats
}

export async function* findListedFiles({ configuration, signal, workDirectory: work }: SourceOptions): AsyncGenerator<SourceDocument> {
  const { paths = [], file_types } = configuration as { paths?: string[]; file_types?: string[] }
  const selection = createSelection(configuration)
  const { places, missing } = await resolvePaths(paths)
  const skip = new Set([...places.map(({ realPath: real }) => real), ...(await findHome(work))])
  for (const { realPath: real, label, stats: found } of places) {
    signal.throwIfAborted()
    if (found.isFile()) {
      const entry = createEntry(real, label, found, selection.maxFileSize)
      const foreign = file_types !== undefined && !file_types.some((type) => type.toLowerCase() === getExtension(real))
      if (foreign) entry.problem = `This source reads ${file_types.join(', ')} files only.`
      yield createFileDocument(dirname(real), entry, selection.maxFileSize)
    } else if (found.isDirectory()) {
      for await (const entry of walkFolder({ root: real, selection, gitignore: true, signal, skip }))
        yield createFileDocument(real, { ...entry, name: `${label}/${entry.name}` }, selection.maxFileSize)
    }
  }
  // Thrown last: the other paths have been read, and an error keeps the documents of the missing ones.
  const [first] = missing
  if (first) throw first
}

async function resolvePaths(paths: readonly string[]): Promise<{ places: ListedPath[]; missing: CadreError[] }> {
  const places = new Map<string, ListedPath>()
  const missing: CadreError[] = []
  for (const given of paths) {
    try {
      if (!isAbsolute(given)) throw createValidationError('configuration.paths', `must be absolute paths, not "${given}"`)
      const real = await realpath(given)
      const found = await stat(real, { bigint: true })
      if (!places.has(real)) places.set(real, { path: given, realPath: real, stats: found, label: basename(given).normalize('NFC') })
    } catch (error) {
      missing.push(error instanceof CadreError ? error : toPathError(given, error))
    }
  }
  return { places: assignLabels([...places.values()]), missing }
}

/** Uses the last part of a path as its label, or the full path if two are equal. */
function assignLabels(places: ListedPath[]): ListedPath[] {
  const count = (label: string) => places.filter((place) => place.label === label).length
  return places.map((place) => (count(place.label) > 1 || place.label === '' ? { ...place, label: formatFullPath(place.path) } : place))
}

function formatFullPath(path: string): string {
  return path
    .normalize('NFC')
    .split(sep)
    .filter((part) => part !== '')
    .join('/')
}
