/** Files named with @ in a message: their text goes with it, bounded, and only where it is text. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { extname, resolve } from 'node:path'
import { bytes } from '../cli/quantity.ts'

export const LARGEST_FILE = 200_000
export const LARGEST_MESSAGE = 450_000

export interface Attached {
  /** What is sent. */
  message: string
  /** The files whose text is in it, as they were written. */
  files: string[]
}

/** The file cannot go with the message; the sentence says why. */
export class AttachmentError extends Error {}

const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g

/** Names in a directory, directories with a slash; none where it cannot be read. */
export function entriesOf(cwd: string, directory: string): string[] {
  try {
    return readdirSync(place(cwd, directory), { withFileTypes: true }).map((entry) => (isDirectory(cwd, directory, entry) ? `${entry.name}/` : entry.name))
  } catch {
    return [] // there is nothing to complete with
  }
}

function isDirectory(cwd: string, directory: string, entry: { name: string; isDirectory(): boolean; isSymbolicLink(): boolean }): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory()
  return statSync(resolve(place(cwd, directory), entry.name), { throwIfNoEntry: false })?.isDirectory() ?? false
}

function place(cwd: string, path: string): string {
  return resolve(cwd, path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path)
}

/** The files that a text names, without opening them. */
export function mentionedFiles(text: string, cwd: string): string[] {
  if (!text.includes('@')) return []
  const paths = Array.from(text.matchAll(MENTION), ([, quoted, plain]) => found(cwd, quoted ?? plain ?? ''))
  return [...new Set(paths.filter((path) => path !== undefined && statSync(place(cwd, path), { throwIfNoEntry: false })?.isFile()))] as string[]
}

/** The message with the files it names. An @ that names no file is just text. */
export function withFiles(text: string, cwd: string): Attached {
  const files: string[] = []
  const parts: string[] = []
  for (const [, quoted, plain] of text.matchAll(MENTION)) {
    const path = found(cwd, quoted ?? plain ?? '')
    if (path === undefined || files.includes(path)) continue
    parts.push(section(path, textOf(place(cwd, path), path)))
    files.push(path)
  }
  const message = [text, ...parts].join('\n\n')
  if (message.length > LARGEST_MESSAGE)
    throw new AttachmentError(
      `The message with its files has ${message.length.toLocaleString('en')} characters; ${LARGEST_MESSAGE.toLocaleString('en')} are the most.`,
    )
  return { message, files }
}

/** The path, without the full stop or comma of the sentence it stands in where only that names a file. */
function found(cwd: string, path: string): string | undefined {
  return [path, path.replace(/[.,;:!?)\]]+$/, '')].find((each) => each !== '' && statSync(place(cwd, each), { throwIfNoEntry: false }) !== undefined)
}

function textOf(file: string, shown: string): string {
  const { size, ...stats } = statOf(file)
  if (stats.directory) throw new AttachmentError(`${shown} is a directory. Name a file in it, or add it as knowledge: cadre knowledge add.`)
  if (!stats.file) throw new AttachmentError(`${shown} is not a file.`)
  if (size > LARGEST_FILE)
    throw new AttachmentError(`${shown} has ${bytes(size)}; ${bytes(LARGEST_FILE)} are the most. To ask about long documents: cadre knowledge add.`)
  const content = readFileSync(file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content)
    if (!text.includes('\0')) return text
  } catch {
    // not UTF-8: said below
  }
  throw new AttachmentError(`${shown} is not text.`)
}

function statOf(file: string): { size: number; file: boolean; directory: boolean } {
  const stats = statSync(file)
  return { size: stats.size, file: stats.isFile(), directory: stats.isDirectory() }
}

/** A fence longer than any in the text, so that nothing in it can close it. */
function section(path: string, text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${path}:\n${fence}${extname(path).slice(1)}\n${text.replace(/\n$/, '')}\n${fence}`
}
