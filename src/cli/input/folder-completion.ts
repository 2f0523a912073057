/** Names of folders, completed while they are typed. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { foldersIn } from './list-folders.ts'

/** A path in which ~ is the home of whoever typed it, as in a shell. */
export function expandHome(path: string, home = homedir()): string {
  return path.replace(/^~(?=[/\\]|$)/, () => home)
}

/** The folders that begin as the last part of what was typed does, and that part. Hidden ones only where it begins with a dot. */
export function completeFolder(typed: string): [string[], string] {
  const given = typed.replace(/^["']/, '')
  if (given === '~') return [['~/'], given]
  const [, above = '', begun = ''] = /^(.*[/\\])?(.*)$/.exec(given) ?? []
  const folder = resolve(expandHome(above) || '.')
  const names = foldersIn(folder).filter((name) => name.startsWith(begun) && (begun.startsWith('.') || !name.startsWith('.')))
  const parents = ['.', '..'].includes(begun) ? [begun] : []
  return [[...new Set([...parents, ...names])].sort().map((name) => `${name}/`), begun]
}
