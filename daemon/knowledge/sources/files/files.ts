/** Sources of type file: files and folders on the daemon's disk that the configuration names one by one. */
import type { BigIntStats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, sep } from 'node:path'
import { CadreError, invalid } from '../../../../src/contract/errors.ts'
import type { Found, SourceOptions } from '../found.ts'
import { documentOf, gone, homeOf } from './folder.ts'
import { extensionOf, selectionOf } from './selection.ts'
import { entryOf, walk } from './walk.ts'

interface Place {
  given: string
  real: string
  label: string
  found: BigIntStats
}

export async function* findFiles({ configuration, signal, work }: SourceOptions): AsyncGenerator<Found> {
  const { paths = [], file_types } = configuration as { paths?: string[]; file_types?: string[] }
  const selection = selectionOf(configuration)
  const { places, missing } = await placesOf(paths)
  const skip = new Set([...places.map(({ real }) => real), ...(await homeOf(work))])
  for (const { real, label, found } of places) {
    signal.throwIfAborted()
    if (found.isFile()) {
      const entry = entryOf(real, label, found, selection.maxFileSize)
      const foreign = file_types !== undefined && !file_types.some((type) => type.toLowerCase() === extensionOf(real))
      if (foreign) entry.problem = `This source reads ${file_types.join(', ')} files only.`
      yield documentOf(dirname(real), entry, selection.maxFileSize)
    } else if (found.isDirectory()) {
      for await (const entry of walk({ root: real, selection, gitignore: true, signal, skip }))
        yield documentOf(real, { ...entry, name: `${label}/${entry.name}` }, selection.maxFileSize)
    }
  }
  // Only now: the rest was found, and an error keeps what stood at the missing paths from being deleted.
  const [first] = missing
  if (first) throw first
}

async function placesOf(paths: readonly string[]): Promise<{ places: Place[]; missing: CadreError[] }> {
  const places = new Map<string, Place>()
  const missing: CadreError[] = []
  for (const given of paths) {
    try {
      if (!isAbsolute(given)) throw invalid('configuration.paths', `must be absolute paths, not "${given}"`)
      const real = await realpath(given)
      const found = await stat(real, { bigint: true })
      if (!places.has(real)) places.set(real, { given, real, found, label: basename(given).normalize('NFC') })
    } catch (error) {
      missing.push(error instanceof CadreError ? error : gone(given, error))
    }
  }
  return { places: labelled([...places.values()]), missing }
}

/** The last part of a path is its label, unless two share it: then both go by their whole path. */
function labelled(places: Place[]): Place[] {
  const count = (label: string) => places.filter((place) => place.label === label).length
  return places.map((place) => (count(place.label) > 1 || place.label === '' ? { ...place, label: wholePath(place.given) } : place))
}

function wholePath(path: string): string {
  return path
    .normalize('NFC')
    .split(sep)
    .filter((part) => part !== '')
    .join('/')
}
