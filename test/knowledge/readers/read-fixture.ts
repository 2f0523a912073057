/** Reads a document in a test. */
import { DocumentReadError, type ParsedDocument } from '../../../daemon/knowledge/readers/parsed-document.ts'
import { readDocument } from '../../../daemon/knowledge/readers/read-document.ts'

export function read(content: Uint8Array | string, name: string): Promise<ParsedDocument> {
  return readDocument(typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : new Uint8Array(content), name)
}

/** Returns why a document cannot be read or has no text, else the start of its text. */
export async function readOutcome(content: Uint8Array | string, name: string): Promise<string> {
  try {
    const { text, skipReason } = await read(content, name)
    return skipReason ?? `read: ${text.slice(0, 200)}`
  } catch (error) {
    if (error instanceof DocumentReadError) return error.message
    throw error
  }
}
