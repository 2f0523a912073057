/** Lets the daemon read the documents that are attached to a message, and appends their text. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { documentRoutes } from '../../contract/families/documents.ts'
import { toFailure } from '../terminal/errors.ts'
import { type AttachedDocument, AttachmentError, formatSection, joinSections, LONG_HINT } from './attachments.ts'

/** Returns the message with the text of the documents. Throws AttachmentError if one of them cannot be read. */
export async function appendDocuments(connection: Connection, message: string, documents: readonly AttachedDocument[]): Promise<string> {
  if (documents.length === 0) return message
  const sections: string[] = []
  for (const document of documents) sections.push(formatSection(document.path, await readText(connection, document), 'markdown'))
  return joinSections(message, sections)
}

async function readText(connection: Connection, { path, file }: AttachedDocument): Promise<string> {
  const content_base64 = await readFile(file, 'base64').catch((error: unknown) => {
    throw new AttachmentError(`@${path}: ${toFailure(error).error}`)
  })
  const body = { name: basename(file).normalize('NFC'), content_base64 }
  const { data } = await call(connection, documentRoutes.readText, { body }).catch((error: unknown) => {
    throw error instanceof CadreError && error.code === 'VALIDATION_ERROR' ? new AttachmentError(error.message) : error
  })
  if (data.truncated) throw new AttachmentError(`${path} is too long to be attached. ${LONG_HINT}`)
  return data.text
}
