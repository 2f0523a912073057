/** Checks whether a folder contains readable documents before it is added. */
import { type Stats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { suggestWord } from '../../contract/suggest.ts'
import { createReadError } from '../input/file-errors.ts'
import { listFolders } from '../input/list-folders.ts'
import { type SkipReason, scanFolder } from '../input/local-files.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { SYSTEM_ERRORS } from '../terminal/failures/describe-failure.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'

/** The best-known supported file types, for messages. */
export const SUPPORTED_FILE_TYPES = [
  'pdf',
  'docx',
  'md',
  'txt',
  'html',
  'xlsx',
  'pptx',
  'odt',
  'epub',
  'eml',
  'zip',
  'csv',
  'json',
  'yaml',
  'xml',
] as const

export const SUPPORTED_FILES_HINT = `Supported file types: ${SUPPORTED_FILE_TYPES.join(', ')} and source code.`

export const OTHER_FOLDER_HINT = `${SUPPORTED_FILES_HINT}\nAdd some documents, or specify another folder: cadre quickstart ./handbook`
const EXISTING_FOLDER_HINT = "Specify an existing folder, or none to use Cadre's documentation: cadre quickstart"
const MAX_LISTED_TYPES = 4

/** Returns why the folder has no readable documents; undefined if it has some, or if only the daemon can tell. */
export async function validateFolder(folder: string): Promise<UsageError | undefined> {
  if (/^[a-z][a-z+.-]*:\/\//i.test(folder) || /^git@/.test(folder))
    return new UsageError(`${folder} is a URL, not a folder.`, `To add it: cadre knowledge add ${quoteShellWord(folder)}`)
  let stats: Stats | undefined
  try {
    stats = statSync(folder, { throwIfNoEntry: false })
  } catch (error) {
    return new UsageError(createReadError(folder, error).message, EXISTING_FOLDER_HINT)
  }
  if (!stats) return createMissingFolderError(folder)
  if (!stats.isDirectory())
    return new UsageError(
      `${folder} is a file, not a folder.`,
      `To add this file: cadre knowledge add ${quoteShellWord(folder)}\n` +
        `To use its folder: cadre quickstart ${quoteShellWord(dirname(folder))}`,
    )
  const problem = await describeUnreadableFolder(folder)
  return problem === undefined ? undefined : new UsageError(`${folder} has no readable documents: ${problem}.`, OTHER_FOLDER_HINT)
}

function createMissingFolderError(folder: string): UsageError {
  const path = resolve(folder)
  const near = suggestWord(basename(path), listFolders(dirname(path)))
  const hint =
    near === undefined ? EXISTING_FOLDER_HINT : `Did you mean this one? cadre quickstart ${quoteShellWord(join(dirname(folder), near))}`
  return new UsageError(`There is no folder ${folder}.`, hint)
}

/** Describes what the folder contains instead of documents; undefined as soon as a document is found. */
async function describeUnreadableFolder(folder: string): Promise<string | undefined> {
  const count: Record<SkipReason | 'empty', number> = { hidden: 0, ignored: 0, unwanted: 0, kind: 0, empty: 0 }
  const kinds = new Set<string>()
  try {
    for await (const { path, name, skipped: left } of scanFolder(folder, {})) {
      if (left === undefined && (await stat(path)).size > 0) return undefined
      count[left ?? 'empty']++
      if (left === 'kind') kinds.add(extname(name).toLowerCase() || basename(name))
    }
  } catch (error) {
    const { code = '', path } = error as NodeJS.ErrnoException
    if (!/^E[A-Z]/.test(code)) throw error
    // The daemon may be able to read a subfolder that this user cannot.
    return path === folder ? `it cannot be opened (${SYSTEM_ERRORS[code] ?? code})` : undefined
  }
  const types = [...kinds].sort().slice(0, MAX_LISTED_TYPES).join(', ') + (kinds.size > MAX_LISTED_TYPES ? ', …' : '')
  const parts = [
    count.kind > 0 ? `${formatCount(count.kind, 'file')} of unsupported types (${types})` : '',
    count.empty > 0 ? formatCount(count.empty, 'empty file') : '',
    count.hidden > 0 ? formatCount(count.hidden, 'hidden file') : '',
    count.ignored > 0 ? `${count.ignored} in .gitignore` : '',
    count.unwanted > 0 ? 'node_modules' : '',
  ].filter(Boolean)
  return parts.length === 0 ? 'it is empty' : `only ${parts.join(', ')}`
}
