/** Reads the images of messages: from data URLs, or from the web through the outbound guard. */
import { createValidationError } from '../../src/contract/errors.ts'
import { MAX_TOTAL_IMAGE_BYTES } from '../../src/contract/schemas/images.ts'
import type { ChatImage } from '../models/chat-model.ts'
import type { Outbound } from '../outbound/client.ts'

/** Of a request: clients send the images of earlier messages again. */
const MAX_IMAGES = 50
const DOWNLOAD_TIMEOUT_MS = 15_000
const DATA_URL = /^data:(image\/[a-z0-9.+-]{1,50});base64,([A-Za-z0-9+/]+={0,2})$/i
const TOO_LARGE = `leads to more than ${MAX_TOTAL_IMAGE_BYTES / 1024 ** 2} MB of images`

export type LoadImage = (url: string, field: string) => Promise<ChatImage>

/** Loads the images of one request, whose number and size together are limited. */
export function createImageLoader(outbound: Outbound, signal: AbortSignal): LoadImage {
  let count = 0
  let remainingBytes = MAX_TOTAL_IMAGE_BYTES
  return async (url, field) => {
    if (++count > MAX_IMAGES) throw createValidationError(field, `is one of more than ${MAX_IMAGES} images`)
    if (!/^https?:\/\//i.test(url)) return parseDataUrl(url, field) // limited by the size of the request
    const image = await downloadImage(outbound, url, field, remainingBytes, signal)
    remainingBytes -= (image.data.length / 4) * 3
    return image
  }
}

function parseDataUrl(url: string, field: string): ChatImage {
  const [, type = '', data = ''] = DATA_URL.exec(url) ?? []
  if (data === '') throw createValidationError(field, 'must be a data URL such as data:image/png;base64,…, or an http or https URL')
  return { type: type.toLowerCase(), data }
}

async function downloadImage(outbound: Outbound, url: string, field: string, maxBytes: number, signal: AbortSignal): Promise<ChatImage> {
  if (maxBytes < 1) throw createValidationError(field, TOO_LARGE)
  const { status, headers, body, truncated } = await outbound.request(url, {
    maxBytes,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    headers: { accept: 'image/*' },
    signal,
  })
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (status !== 200) throw createValidationError(field, `the server of the image responded with ${status}`)
  if (!/^image\/[a-z0-9.+-]{1,50}$/i.test(type.trim())) throw createValidationError(field, 'does not lead to an image')
  if (truncated) throw createValidationError(field, TOO_LARGE)
  return { type: type.trim().toLowerCase(), data: Buffer.from(body).toString('base64') }
}
