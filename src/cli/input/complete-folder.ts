/** Tab completion of folder names. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { listFolders } from './list-folders.ts'

/** Expands ~ as a shell does. */
export function expandHome(path: string, home = homedir()): string {
  return path.replace(/^~(?=[/\\]|$)/, () => home)
}

/** Returns matching folders and the prefix they replace. Hidden folders match only a leading dot. */
export function completeFolder(typed: string): [string[], string] {
  const input = typed.replace(/^["']/, '')
  if (input === '~') return [['~/'], input]
  const [, parent = '', prefix = ''] = /^(.*[/\\])?(.*)$/.exec(input) ?? []
  const folder = resolve(expandHome(parent) || '.')
  const names = listFolders(folder).filter((name) => name.startsWith(prefix) && (prefix.startsWith('.') || !name.startsWith('.')))
  const parents = ['.', '..'].includes(prefix) ? [prefix] : []
  return [[...new Set([...parents, ...names])].sort().map((name) => `${name}/`), prefix]
}
