/** Finds the files of a local folder to upload to a remote service, by the same rules as the daemon's folder sources. */
import { opendir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { DEFAULT_FILE_TYPES } from '../../contract/families/source-configurations.ts'

export interface LocalFile {
  path: string
  /** Document name. */
  name: string
}

export interface FileFilter {
  include?: readonly string[]
  exclude?: readonly string[]
}

/** Why a file or folder is skipped. */
export type SkipReason = 'hidden' | 'ignored' | 'unwanted' | 'kind'

export interface ScannedFile extends LocalFile {
  /** Undefined for documents. */
  skipped?: SkipReason
}

/** Skips hidden files, files ignored by git and unsupported types. Sorted by name. */
export async function listFiles(root: string, choice: FileFilter): Promise<LocalFile[]> {
  const found: LocalFile[] = []
  for await (const { path, name, skipped: left } of scanFolder(root, choice)) if (left === undefined) found.push({ path, name })
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Yields documents and skipped files and folders, with the reason. */
export async function* scanFolder(root: string, { include = [], exclude = [] }: FileFilter): AsyncGenerator<ScannedFile> {
  const [{ default: picomatch }, { default: ignore }] = await Promise.all([import('picomatch'), import('ignore')])
  const matches = (globs: readonly string[], dot: boolean) => {
    const tests = globs.map((glob) => picomatch(glob.replace(/^(\.?\/)+/, ''), { dot, basename: !glob.includes('/') }))
    return (name: string) => tests.some((test) => test(name))
  }
  const wanted = include.length === 0 ? () => true : matches(include, false)
  const refused = matches(exclude, true)
  const types = new Set<string>(DEFAULT_FILE_TYPES)

  async function* look(folder: string, above: readonly ((path: string) => boolean)[]): AsyncGenerator<ScannedFile> {
    const rules = await readFile(join(folder, '.gitignore'), 'utf8').catch(() => undefined) // no .gitignore
    const own = rules === undefined ? undefined : ignore().add(rules)
    const ignored = own
      ? [...above, (path: string) => own.ignores(relative(folder, path).split(sep).join('/') + (path.endsWith('/') ? '/' : ''))]
      : above
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name)
      const name = relative(root, path).split(sep).join('/').normalize('NFC')
      if (entry.name.startsWith('.')) yield { path, name, skipped: 'hidden' }
      else if (entry.name === 'node_modules' || refused(name)) yield { path, name, skipped: 'unwanted' }
      else if (ignored.some((test) => test(entry.isDirectory() ? `${path}/` : path))) yield { path, name, skipped: 'ignored' }
      else if (entry.isDirectory()) yield* look(path, ignored)
      else if (!entry.isFile() || !types.has(extname(name).slice(1).toLowerCase())) yield { path, name, skipped: 'kind' }
      else if (!wanted(name)) yield { path, name, skipped: 'unwanted' }
      else yield { path, name }
    }
  }
  yield* look(root, [])
}
