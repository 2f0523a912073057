/** Finds the files of a local folder to upload to a remote service, by the same rules as the daemon's folder sources. */
import type { Dirent } from 'node:fs'
import { opendir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { DEFAULT_FILE_TYPES } from '../../contract/schemas/source-configurations.ts'
import { createSelection, getExtension } from '../../files/selection.ts'

export interface LocalFile {
  path: string
  /** Document name. */
  name: string
}

interface FileFilter {
  include?: readonly string[]
  exclude?: readonly string[]
  ocr?: boolean
}

/** Why a file or folder is skipped. */
export type SkipReason = 'hidden' | 'ignored' | 'unwanted' | 'kind'

interface ScannedFile extends LocalFile {
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
export async function* scanFolder(root: string, filter: FileFilter): AsyncGenerator<ScannedFile> {
  const { default: ignore } = await import('ignore')
  const selection = createSelection(filter)

  async function* look(folder: string, above: readonly ((path: string) => boolean)[]): AsyncGenerator<ScannedFile> {
    const rules = await readFile(join(folder, '.gitignore'), 'utf8').catch(() => undefined) // no .gitignore
    const own = rules === undefined ? undefined : ignore().add(rules)
    const ignored = own
      ? [...above, (path: string) => own.ignores(relative(folder, path).split(sep).join('/') + (path.endsWith('/') ? '/' : ''))]
      : above
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name)
      const name = relative(root, path).split(sep).join('/').normalize('NFC')
      const isFolder = entry.isDirectory()
      const isSelected = isFolder ? selection.includesFolder(name) : entry.isFile() && selection.includesFile(name)
      if (!isSelected) yield { path, name, skipped: getSkipReason(entry) }
      else if (ignored.some((test) => test(isFolder ? `${path}/` : path))) yield { path, name, skipped: 'ignored' }
      else if (isFolder) yield* look(path, ignored)
      else yield { path, name }
    }
  }
  yield* look(root, [])
}

function getSkipReason(entry: Dirent): SkipReason {
  if (entry.name.startsWith('.')) return 'hidden'
  return entry.isDirectory() || (entry.isFile() && DEFAULT_FILE_TYPES.includes(getExtension(entry.name))) ? 'unwanted' : 'kind'
}
