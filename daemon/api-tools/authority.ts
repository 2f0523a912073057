/** Who may change what of an API tool: what was allowed or kept for one use must not serve another without an admin. */
import { CadreError } from '../../src/contract/errors.ts'
import { adminsOnly } from '../core/caller.ts'
import type { PrepareContext } from '../crud/resource.ts'
import type { ApiToolInput } from './secrets.ts'
import type { StoredApiTool } from './store.ts'
import { checkUrlTemplate } from './url-template.ts'

/** `record` is the tool as it would be, `origin` where it would send its calls. */
export function checkAuthority(
  record: StoredApiTool,
  given: ApiToolInput,
  { caller, current }: PrepareContext<StoredApiTool>,
  origin: string,
): void {
  if (given.allow_private_network && !current?.allow_private_network) adminsOnly(caller, 'let a tool reach the private network')
  if (current === undefined || caller.role === 'admin') return
  if (current.allow_private_network && !record.allow_private_network) adminsOnly(caller, 'take the private network from a tool')
  const use = otherUse(current, record, origin)
  if (use === undefined) return
  if (current.allow_private_network) adminsOnly(caller, `change ${use} of a tool that reaches the private network`)
  if (current.secrets !== null && !givenAnew(current, given))
    throw new CadreError('FORBIDDEN', `Only an admin may change ${use} of a tool with secrets, unless they are given anew.`, {
      hint: `Send ${kept(current).join(' and ')} along, or use a token with the role admin.`,
    })
}

/** What would be other about what is done in the tool's name, if anything. */
function otherUse(current: StoredApiTool, record: StoredApiTool, origin: string): string | undefined {
  if (checkUrlTemplate(current.url) !== origin) return 'the server'
  if (current.method !== record.method) return 'the method'
  return current.requires_confirmation && !record.requires_confirmation ? 'requires_confirmation' : undefined
}

/** Whoever knows the secrets could make the tool without it being here. */
const givenAnew = (current: StoredApiTool, given: ApiToolInput): boolean => kept(current).every((field) => given[field] !== undefined)

function kept({ header_names, auth }: StoredApiTool): ('headers' | 'auth')[] {
  return [...(header_names.length > 0 ? ['headers' as const] : []), ...(auth.type === 'none' ? [] : ['auth' as const])]
}
