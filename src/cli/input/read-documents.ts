/** Lets the daemon read the documents that are attached to a message, and appends their text. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { documentRoutes } from '../../contract/families/documents.ts'
import { toFailure } from '../terminal/failures/describe-failure.ts'
import { type AttachedDocument, AttachmentError, formatSection, joinSections, LONG_HINT } from './attachments.ts'

/** Returns the message with the text of the documents. Throws AttachmentError if one of them cannot be read. */
export async function appendDocuments(connection: Connection, message: string, documents: readonly AttachedDocument[]): Promise<string> {
  const files = documents.map(({ path, file }) => async () => {
    const data = await readFile(file, 'base64').catch((error: unknown) => {
      throw new AttachmentError(`@${path}: ${toFailure(error).error}`)
    })
    return { path, data }
  })
  return appendSections(connection, message, files)
}

/** As appendDocuments, for files that were read already. */
export const appendTexts = (connection: Connection, message: string, files: readonly ReadFile[]): Promise<string> =>
  appendSections(
    connection,
    message,
    files.map((file) => async () => file),
  )

interface ReadFile {
  path: string
  /** In base64. */
  data: string
}

/** Reads one file at a time: each may have many megabytes. */
async function appendSections(connection: Connection, message: string, files: readonly (() => Promise<ReadFile>)[]): Promise<string> {
  const sections: string[] = []
  for (const read of files) {
    const { path, data } = await read()
    sections.push(formatSection(path, await readText(connection, path, data), 'markdown'))
  }
  return sections.length === 0 ? message : joinSections(message, sections)
}

async function readText(connection: Connection, path: string, content_base64: string): Promise<string> {
  const body = { name: basename(path).normalize('NFC'), content_base64 }
  const { data } = await call(connection, documentRoutes.readText, { body }).catch((error: unknown) => {
    throw error instanceof CadreError && error.code === 'VALIDATION_ERROR' ? new AttachmentError(error.message) : error
  })
  if (data.truncated) throw new AttachmentError(`${path} is too long to be attached. ${LONG_HINT}`)
  return data.text
}
