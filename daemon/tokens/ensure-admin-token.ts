/** Creates the admin token on the first start, and on request a new one if it was lost. */
import { CadreError } from '../../src/contract/errors.ts'
import type { Leases } from '../cluster/cluster.ts'
import { holdLease } from '../cluster/hold-lease.ts'
import type { Caller } from '../core/caller.ts'
import { createTokenSecret, type TokensService } from './service.ts'

const BOOTSTRAP_CALLER: Caller = { tokenId: 'first-start', role: 'admin', userId: null }

interface AdminTokenOptions {
  /** The secret of the token. Default: a new secret. */
  token: string | undefined
  /** Called before the token is stored in the database, so that it is not lost in between. */
  saveToken: (token: string) => Promise<void>
  /** Creates a token even if there are tokens. Requires access to the home, which already permits everything. */
  recover: boolean | undefined
}

/** Daemons of a shared database that start at the same time create one token. */
export const ensureAdminToken = (tokens: TokensService, leases: Leases, options: AdminTokenOptions): Promise<void> =>
  holdLease(leases, 'admin-token', () => createMissingToken(tokens, options))

async function createMissingToken(tokens: TokensService, options: AdminTokenOptions): Promise<void> {
  const { total } = await tokens.list(BOOTSTRAP_CALLER, { limit: 1 })
  if (total > 0 && !options.recover) return
  const token = options.token ?? createTokenSecret()
  const existing = await tokens.authenticator.authenticate(token)
  if (existing && existing.role !== 'admin')
    throw new CadreError('CONFLICT', `The token in CADRE_TOKEN already exists with the role ${existing.role}.`, {
      hint: 'Unset CADRE_TOKEN to create a new token.',
    })
  await options.saveToken(token)
  if (existing) return
  const name = total === 0 ? 'admin' : 'admin, recovered'
  await tokens.createWithSecret({ caller: BOOTSTRAP_CALLER }, { name, role: 'admin' }, token)
}
