/** Entity tags for If-Match. */
import { hash } from 'node:crypto'
import { CadreError } from '../../src/contract/errors.ts'

/** Computed from the JSON text of the response. */
export const computeEtag = (json: string): string => `"${hash('sha1', json, 'base64url')}"`

/** Throws CONFLICT unless one of the comma-separated tags matches the current representation. */
export function requireMatchingEtag(noun: string, ifMatch: string | undefined, view: unknown): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  const tags = ifMatch.split(',').map((tag) => tag.trim())
  if (!tags.includes(computeEtag(JSON.stringify(view)))) throw createStaleVersionError(noun)
}

export function createStaleVersionError(noun: string): CadreError {
  return new CadreError('CONFLICT', `The ${noun} was changed since you read it.`, { hint: 'Read it again and repeat your change.' })
}
