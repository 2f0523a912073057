/** Reads the images of messages: from data URLs, or from the web through the outbound guard. */
import { createValidationError } from '../../src/contract/errors.ts'
import type { ChatImage } from '../models/chat-model.ts'
import type { Outbound } from '../outbound/client.ts'

const MAX_IMAGE_BYTES = 20 * 1024 * 1024
const DOWNLOAD_TIMEOUT_MS = 15_000
const DATA_URL = /^data:(image\/[a-z0-9.+-]{1,50});base64,([A-Za-z0-9+/]+={0,2})$/i

export type LoadImage = (url: string, field: string) => Promise<ChatImage>

export const createImageLoader =
  (outbound: Outbound, signal: AbortSignal): LoadImage =>
  async (url, field) => {
    if (/^https?:\/\//i.test(url)) return downloadImage(outbound, url, field, signal)
    const [, type = '', data = ''] = DATA_URL.exec(url) ?? []
    if (data === '') throw createValidationError(field, 'must be a data URL such as data:image/png;base64,…, or an http or https URL')
    return { type: type.toLowerCase(), data }
  }

async function downloadImage(outbound: Outbound, url: string, field: string, signal: AbortSignal): Promise<ChatImage> {
  const { status, headers, body, truncated } = await outbound.request(url, {
    maxBytes: MAX_IMAGE_BYTES,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    headers: { accept: 'image/*' },
    signal,
  })
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (status !== 200) throw createValidationError(field, `the server of the image responded with ${status}`)
  if (!/^image\/[a-z0-9.+-]{1,50}$/i.test(type.trim())) throw createValidationError(field, 'does not lead to an image')
  if (truncated) throw createValidationError(field, 'leads to an image that is larger than 20 MB')
  return { type: type.trim().toLowerCase(), data: Buffer.from(body).toString('base64') }
}
