/** Checks that only admins redirect the secrets and network access of an API tool to another use. */
import { CadreError } from '../../src/contract/errors.ts'
import { requireAdmin } from '../core/caller.ts'
import type { PrepareContext } from '../crud/resource.ts'
import type { ApiToolInput } from './secrets.ts'
import type { StoredApiTool } from './store.ts'
import { checkUrlTemplate } from './url-template.ts'

/** `record` is the tool after the change, `origin` the server it would call. */
export function checkPermissions(
  record: StoredApiTool,
  input: ApiToolInput,
  { caller, current }: PrepareContext<StoredApiTool>,
  origin: string,
): void {
  if (input.allow_private_network && !current?.allow_private_network) requireAdmin(caller, 'give a tool access to the private network')
  if (current === undefined || caller.role === 'admin') return
  if (current.allow_private_network && !record.allow_private_network) requireAdmin(caller, 'revoke access to the private network')
  const use = findRestrictedChange(current, record, origin)
  if (use === undefined) return
  if (current.allow_private_network) requireAdmin(caller, `change ${use} of a tool with access to the private network`)
  if (current.secrets !== null && !hasNewSecrets(current, input))
    throw new CadreError('FORBIDDEN', `Only an admin may change ${use} of a tool with secrets, unless the secrets are sent again.`, {
      hint: `Send ${listSecretFields(current).join(' and ')} too, or use a token with the role admin.`,
    })
}

function findRestrictedChange(current: StoredApiTool, record: StoredApiTool, origin: string): string | undefined {
  if (checkUrlTemplate(current.url) !== origin) return 'the server'
  if (current.method !== record.method) return 'the method'
  return current.requires_confirmation && !record.requires_confirmation ? 'requires_confirmation' : undefined
}

/** A caller who knows the secrets could create the same tool. */
const hasNewSecrets = (current: StoredApiTool, input: ApiToolInput): boolean =>
  listSecretFields(current).every((field) => input[field] !== undefined)

function listSecretFields({ header_names, auth }: StoredApiTool): ('headers' | 'auth')[] {
  return [...(header_names.length > 0 ? ['headers' as const] : []), ...(auth.type === 'none' ? [] : ['auth' as const])]
}
