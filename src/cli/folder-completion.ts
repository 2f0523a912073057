/** Names of folders, completed while they are typed. */
import { readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { oneLine } from './terminal-text.ts'

/** A path in which ~ is the home of whoever typed it, as in a shell. */
export function withHome(path: string, home = homedir()): string {
  return path.replace(/^~(?=[/\\]|$)/, () => home)
}

/** The folders that begin as the last part of what was typed does, and that part. Hidden ones only where it begins with a dot. */
export function completedFolder(typed: string): [string[], string] {
  const given = typed.replace(/^["']/, '')
  if (given === '~') return [['~/'], given]
  const [, above = '', begun = ''] = /^(.*[/\\])?(.*)$/.exec(given) ?? []
  const folder = resolve(withHome(above) || '.')
  const names = foldersIn(folder).filter((name) => name.startsWith(begun) && (begun.startsWith('.') || !name.startsWith('.')))
  const parents = ['.', '..'].includes(begun) ? [begun] : []
  return [[...new Set([...parents, ...names])].sort().map((name) => `${name}/`), begun]
}

/** Without those whose names would steer the terminal that they are written to. */
function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.name === oneLine(entry.name) && (entry.isDirectory() || (entry.isSymbolicLink() && isFolder(join(folder, entry.name)))) ? [entry.name] : [],
    )
  } catch {
    return [] // what cannot be listed has nothing to complete
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
