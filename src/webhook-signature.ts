/** Signatures of webhooks as the Standard Webhooks specification says: the daemon signs what it sends, the command line what it forwards. */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const MIN_SECRET_BYTES = 24
const MAX_SECRET_BYTES = 64

export interface WebhookContent {
  /** The same for every attempt, so that a receiver can tell a repetition. */
  id: string
  /** Milliseconds since 1970, when it is sent. */
  now: number
  body: string
}

export const createSigningSecret = (): string => PREFIX + randomBytes(32).toString('base64')

/** What is wrong with a secret, if anything. */
export function findSecretProblem(secret: string): string | undefined {
  if (!secret.startsWith(PREFIX)) return `must begin with ${PREFIX}`
  const size = decodeKey(secret).length
  return size < MIN_SECRET_BYTES || size > MAX_SECRET_BYTES
    ? `must hold ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes in base64`
    : undefined
}

/** One signature a secret: while secrets change over, whoever knows one of them can verify. */
export function createSignatureHeaders(secrets: readonly string[], { id, now, body }: WebhookContent): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const sign = (secret: string) => `v1,${createHmac('sha256', decodeKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': secrets.map(sign).join(' ') }
}

const decodeKey = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64')
