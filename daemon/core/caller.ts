/** The authenticated caller, and the context of a change. Services know callers, not HTTP requests. */
import { CadreError } from '../../src/contract/errors.ts'
import type { Role } from '../../src/contract/route.ts'
import type { Transaction } from '../store/database.ts'

export interface Caller {
  tokenId: string
  role: Role
  userId: string | null
}

/** User id of tokens without one. */
const LOCAL_USER = 'local'
export const getUserId = ({ userId }: Caller): string => userId ?? LOCAL_USER

export interface ChangeContext {
  caller: Caller
  /** The ETags of an If-Match header. */
  ifMatch?: string | undefined
  /** Stores the response in the same transaction as the change, so that a repeated request is not executed again. */
  storeResponse?: ((transaction: Transaction, reply: unknown) => Promise<void>) | undefined
}

/** Throws FORBIDDEN unless the caller is an admin. */
export function requireAdmin(caller: Caller, what: string): void {
  if (caller.role === 'admin') return
  throw new CadreError('FORBIDDEN', `Only an admin may ${what}.`, { hint: 'Use a token with the role admin.' })
}
