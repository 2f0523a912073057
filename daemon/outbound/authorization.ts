/** Bearer and basic authentication for outgoing requests, and redaction of their secrets. */
import type { Redactor } from '../secrets/redactor.ts'

export type Credentials = { type: 'bearer'; token: string } | { type: 'basic'; username: string; password: string }

export const formatAuthorization = (proof: Credentials): string =>
  proof.type === 'bearer' ? `Bearer ${proof.token}` : `Basic ${encodeBasic(proof)}`

export function redactCredentials(redactor: Redactor, proof: Credentials): void {
  // Without a password, the user name is the secret.
  const secrets = proof.type === 'bearer' ? [proof.token] : [proof.password || proof.username, encodeBasic(proof)]
  for (const secret of secrets) redactor.add(secret)
}

const encodeBasic = ({ username, password }: Extract<Credentials, { type: 'basic' }>): string =>
  Buffer.from(`${username}:${password}`).toString('base64')
