/** Reads a document in a test, or tells why it cannot be read. */
import { type ReadDocument, ReadFailure, readDocument } from '../../../daemon/knowledge/readers/read-document.ts'

export function read(content: Uint8Array | string, name: string): Promise<ReadDocument> {
  return readDocument(typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : new Uint8Array(content), name)
}

export async function reasonOf(content: Uint8Array | string, name: string): Promise<string> {
  try {
    const { text } = await read(content, name)
    return `read: ${text.slice(0, 200)}`
  } catch (error) {
    if (error instanceof ReadFailure) return error.message
    throw error
  }
}
