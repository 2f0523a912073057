/** Files named with @ in a message, in the chat and in `ask`: their text goes with it, bounded, and only where it is text. */
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, extname, resolve } from 'node:path'
import { suggestWord } from '../../contract/suggest.ts'
import { toFailure } from '../terminal/errors.ts'
import { formatBytes } from '../terminal/format-quantity.ts'

export const MAX_FILE_BYTES = 200_000
export const MAX_MESSAGE_CHARACTERS = 450_000

export interface MessageWithFiles {
  /** What is sent. */
  message: string
  /** The files whose text is in it, as they were written. */
  files: string[]
  /** Where there is no such file, and perhaps none was meant: each in a sentence. */
  missing: string[]
}

/** The file cannot go with the message; the sentence says why. */
export class AttachmentError extends Error {}

const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g

/** Names in a directory, directories with a slash; none where it cannot be read. */
export function listEntries(cwd: string, directory: string): string[] {
  try {
    return readdirSync(resolvePath(cwd, directory), { withFileTypes: true }).map((entry) =>
      isDirectory(cwd, directory, entry) ? `${entry.name}/` : entry.name,
    )
  } catch {
    return [] // there is nothing to complete with
  }
}

function isDirectory(cwd: string, directory: string, entry: { name: string; isDirectory(): boolean; isSymbolicLink(): boolean }): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory()
  return statSync(resolve(resolvePath(cwd, directory), entry.name), { throwIfNoEntry: false })?.isDirectory() ?? false
}

function resolvePath(cwd: string, path: string): string {
  return resolve(cwd, path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path)
}

/** The files that a text names, without opening them. */
export function findMentionedFiles(text: string, cwd: string): string[] {
  if (!text.includes('@')) return []
  const files = Array.from(text.matchAll(MENTION), ([, quoted, plain]) => {
    try {
      return findFile(cwd, quoted ?? plain ?? '')
    } catch {
      return undefined // said when the message is sent
    }
  })
  return [...new Set(files.flatMap((file) => (file?.stats.isFile() ? [file.path] : [])))]
}

/** The message with the files it names. An @ that names no file stays as it is, and is told. */
export function attachFiles(text: string, cwd: string): MessageWithFiles {
  const files: string[] = []
  const missing: string[] = []
  const parts: string[] = []
  for (const [, quoted, plain] of text.matchAll(MENTION)) {
    const mentioned = quoted ?? plain ?? ''
    const file = wrapReadError(mentioned, () => findFile(cwd, mentioned))
    if (file === undefined) missing.push(formatMissingFile(cwd, mentioned))
    if (file === undefined || files.includes(file.path)) continue
    parts.push(
      formatSection(
        file.path,
        wrapReadError(file.path, () => readTextFile(resolvePath(cwd, file.path), file)),
      ),
    )
    files.push(file.path)
  }
  const message = [text, ...parts].join('\n\n')
  if (message.length > MAX_MESSAGE_CHARACTERS)
    throw new AttachmentError(
      `The message with its files has ${message.length.toLocaleString('en')} characters; ${MAX_MESSAGE_CHARACTERS.toLocaleString('en')} are the most.`,
    )
  return { message, files, missing }
}

interface MentionedFile {
  path: string
  stats: Stats
}

/** The path, without the full stop or comma of the sentence it stands in where only that names a file. */
function findFile(cwd: string, mentioned: string): MentionedFile | undefined {
  for (const path of new Set([mentioned, trimPunctuation(mentioned)])) {
    const stats = path === '' ? undefined : findStats(resolvePath(cwd, path))
    if (stats) return { path, stats }
  }
  return undefined
}

const trimPunctuation = (mentioned: string) => mentioned.replace(/[.,;:!?)\]]+$/, '')

/** What cannot be a path is none. */
function findStats(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch (error) {
    if (['ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Why a file cannot be read, in words. */
function wrapReadError<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof AttachmentError ? error : new AttachmentError(`@${path}: ${toFailure(error).error}`)
  }
}

function formatMissingFile(cwd: string, mentioned: string): string {
  const path = trimPunctuation(mentioned) || mentioned
  const directory = path.includes('/') ? `${dirname(path)}/` : ''
  const near = suggestWord(
    basename(path),
    listEntries(cwd, directory || '.').map((name) => name.replace(/\/$/, '')),
  )
  return `@${path}: there is no file ${resolvePath(cwd, path)}.${near === undefined ? '' : ` Did you mean @${directory}${near}?`}`
}

function readTextFile(file: string, { path, stats }: MentionedFile): string {
  if (stats.isDirectory())
    throw new AttachmentError(`${path} is a directory. Name a file in it, or add it as knowledge: cadre knowledge add.`)
  if (!stats.isFile()) throw new AttachmentError(`${path} is not a file.`)
  if (stats.size > MAX_FILE_BYTES)
    throw new AttachmentError(
      `${path} has ${formatBytes(stats.size)}; ${formatBytes(MAX_FILE_BYTES)} are the most. To ask about long documents: cadre knowledge add.`,
    )
  const content = readFileSync(file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content)
    if (!text.includes('\0')) return text
  } catch {
    // not UTF-8: said below
  }
  throw new AttachmentError(`${path} is not text.`)
}

/** A fence longer than any in the text, so that nothing in it can close it. */
function formatSection(path: string, text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${path}:\n${fence}${extname(path).slice(1)}\n${text.replace(/\n$/, '')}\n${fence}`
}
