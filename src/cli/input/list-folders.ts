import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sanitizeLine } from '../terminal/text.ts'

/** Includes links to folders; omits names with control characters. */
export function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.name === sanitizeLine(entry.name) && (entry.isDirectory() || (entry.isSymbolicLink() && isFolder(join(folder, entry.name))))
        ? [entry.name]
        : [],
    )
  } catch {
    return [] // unreadable folder
  }
}

/** Whether the path is a folder or a link to one. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false // missing, below a file, or a broken or circular link
  }
}
