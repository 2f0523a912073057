/** Attaches text files and images named with @ in a message of `chat` or `ask`. */
import { closeSync, type Dirent, openSync, readdirSync, readFileSync, readSync, type Stats, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { DOCUMENT_MEDIA_TYPES, getDocumentType } from '../../contract/document-types.ts'
import { MAX_IMAGE_BYTES, MAX_IMAGES, MAX_TOTAL_IMAGE_BYTES, type MessageImage } from '../../contract/schemas/images.ts'
import { DEFAULT_FILE_TYPES } from '../../contract/schemas/source-configurations.ts'
import { suggestWord } from '../../contract/suggest.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { toFailure } from '../terminal/failures/describe-failure.ts'
import { formatBytes } from '../terminal/format-quantity.ts'
import { isFolder } from './list-folders.ts'

export const MAX_FILE_BYTES = 200_000
const MAX_MESSAGE_CHARACTERS = 450_000
/** As base64, the request stays below its limit. */
const MAX_DOCUMENT_BYTES = 45 * 1024 * 1024
export const LONG_HINT = 'To ask about long documents: cadre knowledge add'

export interface MessageWithFiles {
  message: string
  /** Attached images. Their names are in `files` too. */
  images: AttachedImage[]
  /** Attached files, as written in the message. */
  files: string[]
  /** Attached documents, which only the daemon can read. Their names are in `files` too. */
  documents: AttachedDocument[]
  /** One sentence per @ that names no file; perhaps no file was meant. */
  missing: string[]
}

export type AttachedImage = MessageImage & { /** As written in the message. */ path: string }

export interface AttachedDocument {
  /** As written in the message. */
  path: string
  /** Absolute path. */
  file: string
}

export class AttachmentError extends UsageError {}

/** Models do not accept these images; the daemon recognises the text of a TIFF file, and explains what to do with a HEIC photo. */
const DAEMON_IMAGE_TYPES = ['tif', 'tiff', 'heic', 'heif']

/** Only the daemon reads these. The source of a notebook or mail does not help a model. */
const isDocument = (path: string): boolean =>
  getDocumentType(path) in DOCUMENT_MEDIA_TYPES || DAEMON_IMAGE_TYPES.includes(getDocumentType(path))

const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g

/** Directories end with a slash. Returns an empty list if the directory cannot be read. */
export function listEntries(cwd: string, directory: string): string[] {
  try {
    const folder = resolvePath(cwd, directory)
    const isDirectory = (entry: Dirent) => entry.isDirectory() || (entry.isSymbolicLink() && isFolder(join(folder, entry.name)))
    return readdirSync(folder, { withFileTypes: true }).map((entry) => (isDirectory(entry) ? `${entry.name}/` : entry.name))
  } catch {
    return [] // nothing to complete
  }
}

function resolvePath(cwd: string, path: string): string {
  return resolve(cwd, path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path)
}

/** Finds the files that can be attached, without opening them. */
export function findMentionedFiles(text: string, cwd: string): string[] {
  if (!text.includes('@')) return []
  const files = Array.from(text.matchAll(MENTION), ([, quoted, plain]) => {
    try {
      return findFile(cwd, quoted ?? plain ?? '')
    } catch {
      return undefined // reported when the message is sent
    }
  })
  return [...new Set(files.flatMap((file) => (file?.stats.isFile() ? [file.path] : [])))]
}

/**
 * Appends the text of each text file and reads the images. Documents are only listed. An @ without a file stays in the text and is
 * reported in `missing`.
 */
export function attachFiles(text: string, cwd: string): MessageWithFiles {
  const files: string[] = []
  const missing: string[] = []
  const parts: string[] = []
  const images: AttachedImage[] = []
  const documents: AttachedDocument[] = []
  for (const [, quoted, plain] of text.matchAll(MENTION)) {
    const mentioned = quoted ?? plain ?? ''
    const file = wrapReadError(mentioned, () => findFile(cwd, mentioned))
    if (file === undefined) missing.push(formatMissingFile(cwd, mentioned))
    if (file === undefined || files.includes(file.path)) continue
    const content = wrapReadError(file.path, () => readAttachment(resolvePath(cwd, file.path), file))
    if (typeof content === 'string') parts.push(formatSection(file.path, content))
    else if ('file' in content) documents.push(content)
    else images.push(content)
    files.push(file.path)
  }
  const message = joinSections(text, parts)
  checkImages(images)
  return { message, images, files, documents, missing }
}

/** Appends sections to a message, within the limit of its length. */
export function joinSections(text: string, sections: readonly string[]): string {
  const message = [text, ...sections].join('\n\n')
  if (message.length <= MAX_MESSAGE_CHARACTERS) return message
  throw new AttachmentError(
    `The message with its files has ${message.length.toLocaleString('en')} characters; the maximum is ` +
      `${MAX_MESSAGE_CHARACTERS.toLocaleString('en')}.`,
  )
}

interface MentionedFile {
  path: string
  stats: Stats
}

/** Tries the path as written, then without punctuation at the end. */
function findFile(cwd: string, mentioned: string): MentionedFile | undefined {
  for (const path of new Set([mentioned, trimPunctuation(mentioned)])) {
    const stats = path === '' ? undefined : readStats(resolvePath(cwd, path))
    if (stats) return { path, stats }
  }
  return undefined
}

const trimPunctuation = (mentioned: string) => mentioned.replace(/[.,;:!?)\]]+$/, '')

/** Returns undefined for an invalid path. */
function readStats(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch (error) {
    if (['ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

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
  return `@${path}: no such file: ${resolvePath(cwd, path)}.${near === undefined ? '' : ` Did you mean @${directory}${near}?`}`
}

function readAttachment(file: string, mentioned: MentionedFile): string | AttachedImage | AttachedDocument {
  const { path, stats } = mentioned
  if (stats.isDirectory())
    throw new AttachmentError(`${path} is a directory. Attach a file in it, or add the directory as knowledge: cadre knowledge add`)
  if (!stats.isFile()) throw new AttachmentError(`${path} is not a file.`)
  if (isDocument(path)) {
    if (stats.size <= MAX_DOCUMENT_BYTES) return { path, file }
    throw new AttachmentError(`${path} has ${formatBytes(stats.size)}; ${formatBytes(MAX_DOCUMENT_BYTES)} is the maximum. ${LONG_HINT}`)
  }
  const type = detectImageType(file)
  if (type !== undefined) return readImage(file, mentioned, type)
  if (stats.size > MAX_FILE_BYTES)
    throw new AttachmentError(`${path} has ${formatBytes(stats.size)}; ${formatBytes(MAX_FILE_BYTES)} is the maximum. ${LONG_HINT}`)
  const content = readFileSync(file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content)
    if (!text.includes('\0')) return text
  } catch {
    // not UTF-8: reported below
  }
  // The daemon knows other encodings.
  if (DEFAULT_FILE_TYPES.includes(getDocumentType(path)) && !content.includes(0)) return { path, file }
  throw new AttachmentError(`${path} is neither a UTF-8 text file nor a PNG, JPEG, GIF or WebP image.`)
}

/** Finds the type by the first bytes of the file, as models do. */
function detectImageType(file: string): MessageImage['type'] | undefined {
  const start = Buffer.alloc(12)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, start, 0, start.length, 0)
  } finally {
    closeSync(descriptor)
  }
  const text = start.toString('latin1')
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  return text.startsWith('RIFF') && text.endsWith('WEBP') ? 'image/webp' : undefined
}

function readImage(file: string, { path, stats }: MentionedFile, type: MessageImage['type']): AttachedImage {
  if (stats.size > MAX_IMAGE_BYTES)
    throw new AttachmentError(`${path} has ${formatBytes(stats.size)}; ${formatBytes(MAX_IMAGE_BYTES)} is the maximum of an image.`)
  return { type, data: readFileSync(file).toString('base64'), path }
}

function checkImages(images: readonly MessageImage[]): void {
  if (images.length > MAX_IMAGES) throw new AttachmentError(`The message has ${images.length} images; the maximum is ${MAX_IMAGES}.`)
  const bytes = images.reduce((sum, { data }) => sum + (data.length / 4) * 3, 0)
  if (bytes > MAX_TOTAL_IMAGE_BYTES)
    throw new AttachmentError(`The images have ${formatBytes(bytes)} together; ${formatBytes(MAX_TOTAL_IMAGE_BYTES)} is the maximum.`)
}

/** The fence is longer than any in the text, so that the text cannot close it. */
export function formatSection(path: string, text: string, language: string = extname(path).slice(1)): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${path}:\n${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`
}
