/** Decodes the content of a document in a request. */
import { createValidationError } from '../../src/contract/errors.ts'

export function decodeContent({ content, content_base64 }: { content?: string; content_base64?: string }): Buffer {
  if ((content === undefined) === (content_base64 === undefined))
    throw createValidationError('content', 'send either content or content_base64')
  if (content !== undefined) return Buffer.from(content, 'utf8')
  const text = (content_base64 as string).replaceAll(/\s+/g, '')
  const bytes = Buffer.from(text, 'base64')
  const paddedLength = Math.ceil(text.length / 4) * 4
  const padding = bytes.length % 3 === 0 ? 0 : 3 - (bytes.length % 3)
  // Node skips characters that are not base64; the lengths differ if any were skipped.
  if (paddedLength !== Math.ceil(bytes.length / 3) * 4 || text.replace(/=+$/, '').length !== paddedLength - padding)
    throw createValidationError('content_base64', 'is not valid base64')
  return bytes
}
