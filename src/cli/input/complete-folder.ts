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
  const given = typed.replace(/^["']/, '')
  if (given === '~') return [['~/'], given]
  const [, above = '', begun = ''] = /^(.*[/\\])?(.*)$/.exec(given) ?? []
  const folder = resolve(expandHome(above) || '.')
  const names = listFolders(folder).filter((name) => name.startsWith(begun) && (begun.startsWith('.') || !name.startsWith('.')))
  const parents = ['.', '..'].includes(begun) ? [begun] : []
  return [[...new Set([...parents, ...names])].sort().map((name) => `${name}/`), begun]
}
