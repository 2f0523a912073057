/** Entity tags: what a caller saw, in one short word. */
import { hash } from 'node:crypto'

export const etagOf = (shown: unknown): string => `"${hash('sha1', JSON.stringify(shown), 'base64url')}"`
