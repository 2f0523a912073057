/** How a call proves to a server who it is, in the ways that HTTP knows, and what of it nobody shall read in what that says. */
import type { Redactor } from '../secrets/redactor.ts'

export type Proof = { type: 'bearer'; token: string } | { type: 'basic'; username: string; password: string }

export const authorizationOf = (proof: Proof): string => (proof.type === 'bearer' ? `Bearer ${proof.token}` : `Basic ${encoded(proof)}`)

export function conceal(redactor: Redactor, proof: Proof): void {
  // Without a password the user name is the key.
  const secrets = proof.type === 'bearer' ? [proof.token] : [proof.password || proof.username, encoded(proof)]
  for (const secret of secrets) redactor.add(secret)
}

const encoded = ({ username, password }: Extract<Proof, { type: 'basic' }>): string =>
  Buffer.from(`${username}:${password}`).toString('base64')
