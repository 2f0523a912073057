import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sanitizeLine } from '../terminal/text.ts'

/** Includes links to folders; omits names with control characters. */
export function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.name === sanitizeLine(entry.name) &&
      (entry.isDirectory() || (entry.isSymbolicLink() && isLinkToFolder(join(folder, entry.name))))
        ? [entry.name]
        : [],
    )
  } catch {
    return [] // unreadable folder
  }
}

function isLinkToFolder(link: string): boolean {
  try {
    return statSync(link).isDirectory()
  } catch {
    return false // broken or circular link
  }
}
