/** Entity tags: what a caller saw, in one short word, and whether it is still so. */
import { hash } from 'node:crypto'
import { CadreError } from '../../src/contract/errors.ts'

/** Of what a caller is shown, as JSON text. */
export const computeEtag = (json: string): string => `"${hash('sha1', json, 'base64url')}"`

/** Refuses a change by a caller who saw something else than what is there now; several tags are told apart by commas. */
export function requireMatchingEtag(noun: string, ifMatch: string | undefined, shown: unknown): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  const seen = ifMatch.split(',').map((tag) => tag.trim())
  if (!seen.includes(computeEtag(JSON.stringify(shown)))) throw createStaleVersionError(noun)
}

export function createStaleVersionError(noun: string): CadreError {
  return new CadreError('CONFLICT', `The ${noun} was changed since you read it.`, { hint: 'Read it again and repeat your change.' })
}
