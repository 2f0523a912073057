/** Documents of a knowledge source at the terminal: which one is meant, and what a file on disk becomes. */
import { readFile, stat } from 'node:fs/promises'
import { basename, isAbsolute, relative } from 'node:path'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { documentRoutes, MAX_DOCUMENT_BODY_BYTES } from '../../contract/families/documents.ts'
import { findNearest } from '../../contract/suggest.ts'
import { unreadable } from '../input/file-errors.ts'
import { UsageError } from '../terminal/errors.ts'

/** Base64 takes four bytes for three, and the rest of the body some more. */
const MAX_FILE_BYTES = Math.floor((MAX_DOCUMENT_BODY_BYTES - 64 * 1024) * 0.75)

/** The identifier of a document, which may be called by its name. */
export async function resolveDocument(connection: Connection, source: string, value: string): Promise<string> {
  if (/^doc_[0-9a-f-]{36}$/.test(value)) return value
  const params = { id: source }
  const [first] = (await call(connection, documentRoutes.list, { params, query: { name: value } as object })).data
  if (first) return first.id
  const { data: others } = await call(connection, documentRoutes.list, { params, query: { limit: 100 } })
  const [near] = findNearest(
    value,
    others.map(({ name }) => name),
    1,
  )
  throw new CadreError('NOT_FOUND', `There is no document "${value}" in this knowledge source.`, {
    hint: `${near === undefined ? '' : `Did you mean ${near}? `}cadre knowledge documents list ${source} shows them.`,
  })
}

export interface NewDocument {
  name: string
  content_base64: string
}

/** A file as a document, named by its path from here. */
export async function readDocument(file: string, name?: string): Promise<NewDocument> {
  const found = await stat(file).catch((error: unknown) => {
    throw unreadable(file, error)
  })
  if (found.isDirectory()) throw new UsageError(`${file} is a folder.`, `To add a folder: cadre knowledge add ${file}`)
  if (found.size > MAX_FILE_BYTES)
    throw new UsageError(
      `${file} is larger than ${Math.floor(MAX_FILE_BYTES / 1024 ** 2)} MB, which is more than can be sent.`,
      'Let the daemon read it from disk: cadre knowledge create --name NAME --paths FILE',
    )
  return { name: name ?? getDocumentName(file), content_base64: (await contentOf(file)).toString('base64') }
}

async function contentOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw unreadable(file, error)
  }
}

function getDocumentName(file: string): string {
  const path = relative(process.cwd(), file)
  return path.startsWith('..') || isAbsolute(path) ? basename(file) : path.replaceAll('\\', '/')
}
