/** Files of a folder on this machine, for a service on another one: the same choice that the daemon makes of a folder of its own. */
import { opendir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { DEFAULT_FILE_TYPES } from '../contract/knowledge-sources.ts'

export interface LocalFile {
  path: string
  /** Name of the document. */
  name: string
}

export interface Choice {
  include?: readonly string[]
  exclude?: readonly string[]
}

/** Everything below the folder that is neither hidden, nor ignored by git, nor of a type that is not read; in the order of names. */
export async function filesOf(root: string, { include = [], exclude = [] }: Choice): Promise<LocalFile[]> {
  const [{ default: picomatch }, { default: ignore }] = await Promise.all([import('picomatch'), import('ignore')])
  const matches = (globs: readonly string[], dot: boolean) => {
    const tests = globs.map((glob) => picomatch(glob.replace(/^(\.?\/)+/, ''), { dot, basename: !glob.includes('/') }))
    return (name: string) => tests.some((test) => test(name))
  }
  const wanted = include.length === 0 ? () => true : matches(include, false)
  const refused = matches(exclude, true)
  const types = new Set<string>(DEFAULT_FILE_TYPES)
  const found: LocalFile[] = []

  const look = async (folder: string, above: readonly ((path: string) => boolean)[]): Promise<void> => {
    const rules = await readFile(join(folder, '.gitignore'), 'utf8').catch(() => undefined) // most folders have none
    const own = rules === undefined ? undefined : ignore().add(rules)
    const ignored = own ? [...above, (path: string) => own.ignores(relative(folder, path).split(sep).join('/') + (path.endsWith('/') ? '/' : ''))] : above
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name)
      const name = relative(root, path).split(sep).join('/').normalize('NFC')
      if (entry.name.startsWith('.') || entry.name === 'node_modules' || refused(name)) continue
      if (ignored.some((test) => test(entry.isDirectory() ? `${path}/` : path))) continue
      if (entry.isDirectory()) await look(path, ignored)
      else if (entry.isFile() && types.has(extname(name).slice(1).toLowerCase()) && wanted(name)) found.push({ path, name })
    }
  }
  await look(root, [])
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}
