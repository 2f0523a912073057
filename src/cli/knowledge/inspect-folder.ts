/** A look into a folder before anything is made of it: whether there is something to answer from, and what to do where there is not. */
import { type Stats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { suggestWord } from '../../contract/suggest.ts'
import { unreadable } from '../input/file-errors.ts'
import { foldersIn } from '../input/list-folders.ts'
import { type Left, lookThrough } from '../input/local-files.ts'
import { describeSystemError } from '../terminal/errors.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { formatCount } from './follow-sync.ts'

/** Kinds of files as people know them; there are more, all of them source code or relatives of these. */
export const SUPPORTED_FILE_TYPES = ['pdf', 'docx', 'md', 'txt', 'html', 'epub', 'csv', 'json', 'yaml', 'xml'] as const

export const SUPPORTED_FILES_HINT = `Documents of these kinds are read: ${SUPPORTED_FILE_TYPES.join(', ')}, and source code.`
/** What to do about a folder that has nothing to read. */
export const OTHER_FOLDER_HINT = `${SUPPORTED_FILES_HINT}\nPut some there and run it again, or name another folder: cadre quickstart ./handbook`
const EXISTING_FOLDER_HINT = "Name one that is there, or none for Cadre's own documentation: cadre quickstart"
const MAX_LISTED_TYPES = 4

export interface FolderProblem {
  message: string
  hint: string
}

/** Why nothing can be answered from this folder; undefined where something can, or where only reading it can tell. */
export async function findFolderProblem(folder: string): Promise<FolderProblem | undefined> {
  if (/^[a-z][a-z+.-]*:\/\//i.test(folder) || /^git@/.test(folder))
    return { message: `${folder} is an address, not a folder.`, hint: `To read it: cadre knowledge add ${quoteShellWord(folder)}` }
  let found: Stats | undefined
  try {
    found = statSync(folder, { throwIfNoEntry: false })
  } catch (error) {
    return { message: unreadable(folder, error).message, hint: EXISTING_FOLDER_HINT }
  }
  if (!found) return describeMissingFolder(folder)
  if (!found.isDirectory())
    return {
      message: `${folder} is a file, not a folder.`,
      hint: `To read this file: cadre knowledge add ${quoteShellWord(folder)}\nTo read all of its folder: cadre quickstart ${quoteShellWord(dirname(folder))}`,
    }
  const without = await describeUnreadableFolder(folder)
  if (without === undefined) return undefined
  return { message: `There is nothing to read in ${folder}: ${without}.`, hint: OTHER_FOLDER_HINT }
}

function describeMissingFolder(folder: string): FolderProblem {
  const path = resolve(folder)
  const near = suggestWord(basename(path), foldersIn(dirname(path)))
  if (near !== undefined) {
    const meant = join(dirname(folder), near)
    return { message: `There is no folder ${folder}.`, hint: `Did you mean this one? cadre quickstart ${quoteShellWord(meant)}` }
  }
  return { message: `There is no folder ${folder}.`, hint: EXISTING_FOLDER_HINT }
}

/** What is there instead of documents, in words; undefined as soon as there is one. */
async function describeUnreadableFolder(folder: string): Promise<string | undefined> {
  const count: Record<Left | 'empty', number> = { hidden: 0, ignored: 0, unwanted: 0, kind: 0, empty: 0 }
  const kinds = new Set<string>()
  try {
    for await (const { path, name, left } of lookThrough(folder, {})) {
      if (left === undefined && (await stat(path)).size > 0) return undefined
      count[left ?? 'empty']++
      if (left === 'kind') kinds.add(extname(name).toLowerCase() || basename(name))
    }
  } catch (error) {
    const { code = '', path } = error as NodeJS.ErrnoException
    if (!/^E[A-Z]/.test(code)) throw error
    // What is inside of it and closed to us may be, or hold, what the daemon, which reads it, can open.
    return path === folder ? `it cannot be opened (${describeSystemError(code) ?? code})` : undefined
  }
  const some = [...kinds].sort().slice(0, MAX_LISTED_TYPES).join(', ')
  const parts = [
    count.kind > 0 ? `${formatCount(count.kind, 'file')} of another kind (${some}${kinds.size > MAX_LISTED_TYPES ? ', …' : ''})` : '',
    count.empty > 0 ? formatCount(count.empty, 'empty file') : '',
    count.hidden > 0 ? formatCount(count.hidden, 'hidden file') : '',
    count.ignored > 0 ? `${count.ignored} that .gitignore names` : '',
    count.unwanted > 0 ? 'node_modules' : '',
  ].filter(Boolean)
  return parts.length === 0 ? 'it is empty' : `it has only ${parts.join(', ')}`
}
