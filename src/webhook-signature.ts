/** Signatures of webhooks as the Standard Webhooks specification says: the daemon signs what it sends, the command line what it forwards. */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const FEWEST_BYTES = 24
const MOST_BYTES = 64

export interface Signed {
  /** The same for every attempt, so that a receiver can tell a repetition. */
  id: string
  /** Milliseconds since 1970, when it is sent. */
  now: number
  body: string
}

export const newSigningSecret = (): string => PREFIX + randomBytes(32).toString('base64')

/** What is wrong with a secret, if anything. */
export function secretProblem(secret: string): string | undefined {
  if (!secret.startsWith(PREFIX)) return `must begin with ${PREFIX}`
  const size = keyOf(secret).length
  return size < FEWEST_BYTES || size > MOST_BYTES ? `must hold ${FEWEST_BYTES} to ${MOST_BYTES} bytes in base64` : undefined
}

/** One signature a secret: while secrets change over, whoever knows one of them can verify. */
export function signedHeaders(secrets: readonly string[], { id, now, body }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const sign = (secret: string) => `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': secrets.map(sign).join(' ') }
}

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64')
