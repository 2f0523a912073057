import { type Static, Type } from 'typebox'
import { namedObject, stringEnum } from './fields.ts'

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export const MAX_IMAGES = 10
/** Of each image. */
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024
/** Of all images of a request. They are sent in base64, a third longer. */
export const MAX_TOTAL_IMAGE_BYTES = 20 * 1024 * 1024
/** Of a request with images. */
export const MAX_IMAGE_BODY_BYTES = 32 * 1024 * 1024

/** Part of the error of a model that is known not to read images. Clients then send their text. */
export const IMAGES_UNREADABLE = 'cannot read images'

export type MessageImage = Static<typeof MessageImage>
export const MessageImage = namedObject('MessageImage', 'An image of a message.', {
  type: stringEnum(IMAGE_TYPES, { description: 'Media type of the image.' }),
  data: Type.String({
    minLength: 1,
    maxLength: Math.ceil(MAX_IMAGE_BYTES / 3) * 4,
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    description: 'Bytes of the image, in base64.',
  }),
})
