/** The first start: an admin token, kept where the command line finds it before the database knows it. */
import type { Caller } from '../caller.ts'
import { newSecret, type TokensService } from './service.ts'

const NOBODY_YET: Caller = { tokenId: 'first-start', role: 'admin', userId: null }

export async function ensureAdminToken(tokens: TokensService, given: string | undefined, keepToken: (token: string) => Promise<void>): Promise<void> {
  const { total } = await tokens.list(NOBODY_YET, { limit: 1 })
  if (total > 0) return
  const token = given ?? newSecret()
  await keepToken(token)
  await tokens.createWithSecret({ caller: NOBODY_YET }, { name: 'admin', role: 'admin' }, token)
}
