/** Checks permissions by the access level of the family's routes. */
import { hasAccess } from '../../src/contract/route.ts'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import type { Caller } from '../core/caller.ts'
import type { Kind } from './kinds.ts'

export function isAllowed(verb: 'list' | 'create', { name }: Kind, { role }: Caller): boolean {
  const access = ALL_ROUTES.find(({ id }) => id === `${name}.${verb}`)?.access ?? 'public'
  return hasAccess(role, access)
}
