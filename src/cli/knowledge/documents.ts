/** Resolves documents by name and reads files as documents. */
import { readFile, stat } from 'node:fs/promises'
import { basename, isAbsolute, relative } from 'node:path'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { documentRoutes, MAX_DOCUMENT_BODY_BYTES } from '../../contract/families/documents.ts'
import { findNearest } from '../../contract/suggest.ts'
import { createReadError } from '../input/file-errors.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'

/** The body limit minus the other fields; base64 encodes three bytes as four. */
const MAX_FILE_BYTES = Math.floor((MAX_DOCUMENT_BODY_BYTES - 64 * 1024) * 0.75)

/** The source of a document: its ID, and how the user refers to it. */
interface DocumentSource {
  id: string
  name: string
}

/** Resolves the identifier or name of a document to its identifier. */
export async function resolveDocument(connection: Connection, { id, name: source }: DocumentSource, value: string): Promise<string> {
  if (/^doc_[0-9a-f-]{36}$/.test(value)) return value
  const params = { id }
  const [first] = (await call(connection, documentRoutes.list, { params, query: { name: value } as object })).data
  if (first) return first.id
  const { data: others } = await call(connection, documentRoutes.list, { params, query: { limit: 100 } })
  const names = others.map(({ name }) => name)
  // Names have the folders of a source: notes/bicycle.md may be referred to as bicycle.md.
  const near = names.find((name) => basename(name) === basename(value)) ?? findNearest(value, names, 1)[0]
  const list = `List the documents: cadre knowledge documents list ${quoteShellWord(source)}`
  throw new CadreError('NOT_FOUND', `There is no document "${value}" in this knowledge source.`, {
    hint: near === undefined ? list : `Did you mean ${sanitizeLine(near)}? ${list}`,
  })
}

export interface NewDocument {
  name: string
  content_base64: string
}

/** Reads a file as a document, named after its path relative to the working directory. */
export async function readDocument(file: string, name?: string): Promise<NewDocument> {
  const fail = (error: unknown) => {
    throw createReadError(file, error)
  }
  const stats = await stat(file).catch(fail)
  if (stats.isDirectory()) throw new UsageError(`${file} is a folder.`, `To add a folder: cadre knowledge add ${file}`)
  if (stats.size > MAX_FILE_BYTES)
    throw new UsageError(
      `${file} is larger than ${Math.floor(MAX_FILE_BYTES / 1024 ** 2)} MB, the maximum for an upload.`,
      'Let the daemon read it from disk: cadre knowledge create --name NAME --paths FILE',
    )
  const content = await readFile(file).catch(fail)
  return { name: name ?? getDocumentName(file), content_base64: content.toString('base64') }
}

function getDocumentName(file: string): string {
  const path = relative(process.cwd(), file)
  return path.startsWith('..') || isAbsolute(path) ? basename(file) : path.replaceAll('\\', '/')
}
