/** Who is calling, and what comes along with a change: services know callers, not requests. */

import { CadreError } from '../../src/contract/errors.ts'
import type { Role } from '../../src/contract/route.ts'
import type { Transaction } from '../store/database.ts'

export interface Caller {
  tokenId: string
  role: Role
  userId: string | null
}

export interface ChangeContext {
  caller: Caller
  /** The ETag the caller last saw, if it wants to be sure that nothing changed since. */
  ifMatch?: string | undefined
  /** Keeps the reply in the transaction of the change, so that a repeated request is answered and not done again. */
  storeResponse?: ((transaction: Transaction, reply: unknown) => Promise<void>) | undefined
}

/** Some things within a route are for admins alone. */
export function requireAdmin(caller: Caller, what: string): void {
  if (caller.role === 'admin') return
  throw new CadreError('FORBIDDEN', `Only an admin may ${what}.`, { hint: 'Use a token with the role admin.' })
}
