/** Which folders there are in a folder. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sanitizeLine } from '../terminal/text.ts'

/** Their names, those of links to folders too, but for names that would steer the terminal that they are written to. */
export function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.name === sanitizeLine(entry.name) &&
      (entry.isDirectory() || (entry.isSymbolicLink() && isLinkToFolder(join(folder, entry.name))))
        ? [entry.name]
        : [],
    )
  } catch {
    return [] // what cannot be listed has none to name
  }
}

function isLinkToFolder(link: string): boolean {
  try {
    return statSync(link).isDirectory()
  } catch {
    return false // it leads nowhere, or in circles
  }
}
