/** Sends the text of images to a model that cannot read the images themselves. */
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import type { ReplyEvent } from '../../contract/reply-events.ts'
import { IMAGES_UNREADABLE } from '../../contract/schemas/images.ts'
import { type AttachedImage, AttachmentError } from './attachments.ts'
import { appendTexts } from './read-documents.ts'

interface RequestWithImages {
  message?: string
  images?: readonly AttachedImage[]
  key?: string
  retry?: boolean
  replace?: boolean
}

/** Follows the reply. If the model cannot read the images of the message, their recognised text is sent instead. */
export async function* followWithRecognizedText<R extends object>(
  connection: Connection,
  request: R,
  follow: (request: R) => AsyncIterable<ReplyEvent>,
  notify: (line: string) => void,
): AsyncGenerator<ReplyEvent, void> {
  try {
    yield* follow(request)
  } catch (error) {
    const { images = [], message = '', key, retry, replace } = request as RequestWithImages
    if (images.length === 0 || !isRejection(error)) throw error
    const names = images.map(({ path }) => path).join(', ')
    // Without the hint to use another model, which some messages contain.
    const problem = error.message.replace(new RegExp(`(?<=${IMAGES_UNREADABLE}\\.).*`, 's'), '')
    notify(`${problem} The text of ${names} is recognised and sent instead.`)
    const text = await appendTexts(connection, message, images).catch((failure: unknown) => {
      throw failure instanceof AttachmentError ? new CadreError('VALIDATION_ERROR', `${problem} ${failure.message}`) : failure
    })
    // A message that is answered again was stored with its images, so it is replaced. Requests with other content need another key.
    const other = {
      message: text,
      images: [],
      ...(key === undefined ? {} : { key: `${key}-text` }),
      retry: false,
      replace: retry || replace,
    }
    yield* follow({ ...request, ...other })
  }
}

const isRejection = (error: unknown): error is CadreError =>
  error instanceof CadreError && error.code === 'VALIDATION_ERROR' && error.message.includes(IMAGES_UNREADABLE)
