/** Creates webhook signatures as defined by Standard Webhooks, for the daemon and for events forwarded by the CLI. */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const MIN_SECRET_BYTES = 24
const MAX_SECRET_BYTES = 64

interface WebhookContent {
  /** The same for every attempt, so that receivers can detect duplicates. */
  id: string
  /** Time of the attempt in milliseconds since the epoch. */
  now: number
  body: string
}

export const createSigningSecret = (): string => PREFIX + randomBytes(32).toString('base64')

/** Returns undefined for a valid secret. */
export function validateSecret(secret: string): string | undefined {
  if (!secret.startsWith(PREFIX)) return `must start with ${PREFIX}`
  const size = decodeKey(secret).length
  return size < MIN_SECRET_BYTES || size > MAX_SECRET_BYTES
    ? `must contain ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes in base64`
    : undefined
}

/** Signs with every secret, so that receivers can verify with either one during rotation. */
export function createSignatureHeaders(secrets: readonly string[], { id, now, body }: WebhookContent): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const sign = (secret: string) => `v1,${createHmac('sha256', decodeKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': secrets.map(sign).join(' ') }
}

const decodeKey = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64')
