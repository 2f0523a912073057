/** Images of messages, which are sent to the model and not stored. */
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { MAX_TOTAL_IMAGE_BYTES, type MessageImage } from '../../src/contract/schemas/images.ts'
import type { ChatImage } from '../models/chat-model.ts'

const MARKER = '[image]'

/** The text of a message in a conversation, with a marker for each image. */
export const formatQuestion = ({ question, images }: { question: string; images: readonly ChatImage[] }): string =>
  [question, ...images.map(() => MARKER)].filter((part) => part !== '').join('\n')

/** Returns the text that was sent with the images. */
export const removeImageMarkers = (text: string, images: readonly ChatImage[]): string =>
  images.reduce((rest) => (rest.endsWith(`\n${MARKER}`) ? rest.slice(0, -MARKER.length - 1) : rest), text)

/** Throws if a stored message was sent with images: a model would answer without them. */
export function requireNoImages({ content }: { content: string }): void {
  if (content !== MARKER && !content.endsWith(`\n${MARKER}`)) return
  throw new CadreError('CONFLICT', 'The message was sent with images, which are not stored.', { hint: 'Send it again with its images.' })
}

export function requireTotalSize(images: readonly MessageImage[]): void {
  const length = images.reduce((sum, { data }) => sum + data.length, 0)
  if (length > (MAX_TOTAL_IMAGE_BYTES / 3) * 4)
    throw createValidationError('images', `must not be larger than ${MAX_TOTAL_IMAGE_BYTES / 1024 ** 2} MB together`)
}
