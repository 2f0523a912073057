/** The admin token of the first start, and a new one where it was lost; each is kept where the command line finds it before the database knows it. */
import { CadreError } from '../../src/contract/errors.ts'
import type { Caller } from '../core/caller.ts'
import { createTokenSecret, type TokensService } from './service.ts'

const BOOTSTRAP_CALLER: Caller = { tokenId: 'first-start', role: 'admin', userId: null }

export interface AdminTokenOptions {
  /** Becomes the token, instead of a new secret. */
  token: string | undefined
  saveToken: (token: string) => Promise<void>
  /**
   * Another token although there are some. Only who can run a daemon on the home asks for that, and who can do so
   * could as well read and replace everything in it.
   */
  recover: boolean
}

export async function ensureAdminToken(
  tokens: TokensService,
  { token: given, saveToken: keepToken, recover }: AdminTokenOptions,
): Promise<void> {
  const { total } = await tokens.list(BOOTSTRAP_CALLER, { limit: 1 })
  if (total > 0 && !recover) return
  const token = given ?? createTokenSecret()
  const known = await tokens.authenticate(token)
  if (known && known.role !== 'admin')
    throw new CadreError('CONFLICT', `The token in CADRE_TOKEN is known already, with the role ${known.role}.`, {
      hint: 'Leave CADRE_TOKEN out, and a new token is made.',
    })
  await keepToken(token)
  // One that only was not where it should be need not be made again.
  if (!known)
    await tokens.createWithSecret({ caller: BOOTSTRAP_CALLER }, { name: total === 0 ? 'admin' : 'admin, recovered', role: 'admin' }, token)
}
