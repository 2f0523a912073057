/** Files of a folder on this machine, for a service on another one: the same choice that the daemon makes of a folder of its own. */
import { opendir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { DEFAULT_FILE_TYPES } from '../../contract/families/knowledge-sources.ts'

export interface LocalFile {
  path: string
  /** Name of the document. */
  name: string
}

export interface FileFilter {
  include?: readonly string[]
  exclude?: readonly string[]
}

/** Why a file, or a folder as a whole, is no document of ours. */
export type Left = 'hidden' | 'ignored' | 'unwanted' | 'kind'

export interface ScannedFile extends LocalFile {
  /** Undefined for what is read. */
  left?: Left
}

/** Everything below the folder that is neither hidden, nor ignored by git, nor of a type that is not read; in the order of names. */
export async function filesOf(root: string, choice: FileFilter): Promise<LocalFile[]> {
  const found: LocalFile[] = []
  for await (const { path, name, left } of lookThrough(root, choice)) if (left === undefined) found.push({ path, name })
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** What is below the folder, one after the other, each with the reason why it is left out, if it is. */
export async function* lookThrough(root: string, { include = [], exclude = [] }: FileFilter): AsyncGenerator<ScannedFile> {
  const [{ default: picomatch }, { default: ignore }] = await Promise.all([import('picomatch'), import('ignore')])
  const matches = (globs: readonly string[], dot: boolean) => {
    const tests = globs.map((glob) => picomatch(glob.replace(/^(\.?\/)+/, ''), { dot, basename: !glob.includes('/') }))
    return (name: string) => tests.some((test) => test(name))
  }
  const wanted = include.length === 0 ? () => true : matches(include, false)
  const refused = matches(exclude, true)
  const types = new Set<string>(DEFAULT_FILE_TYPES)

  async function* look(folder: string, above: readonly ((path: string) => boolean)[]): AsyncGenerator<ScannedFile> {
    const rules = await readFile(join(folder, '.gitignore'), 'utf8').catch(() => undefined) // most folders have none
    const own = rules === undefined ? undefined : ignore().add(rules)
    const ignored = own
      ? [...above, (path: string) => own.ignores(relative(folder, path).split(sep).join('/') + (path.endsWith('/') ? '/' : ''))]
      : above
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name)
      const name = relative(root, path).split(sep).join('/').normalize('NFC')
      if (entry.name.startsWith('.')) yield { path, name, left: 'hidden' }
      else if (entry.name === 'node_modules' || refused(name)) yield { path, name, left: 'unwanted' }
      else if (ignored.some((test) => test(entry.isDirectory() ? `${path}/` : path))) yield { path, name, left: 'ignored' }
      else if (entry.isDirectory()) yield* look(path, ignored)
      else if (!entry.isFile() || !types.has(extname(name).slice(1).toLowerCase())) yield { path, name, left: 'kind' }
      else if (!wanted(name)) yield { path, name, left: 'unwanted' }
      else yield { path, name }
    }
  }
  yield* look(root, [])
}
