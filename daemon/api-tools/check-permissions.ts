/** Checks that only admins extend the permissions of an API tool or use its secrets and network access for something else. */
import { CadreError } from '../../src/contract/errors.ts'
import { requireAdmin } from '../core/caller.ts'
import type { PrepareContext } from '../crud/resource.ts'
import { listSecretFields } from './secret-scope.ts'
import type { ApiToolInput, StoredApiTool } from './store.ts'
import { checkUrlTemplate } from './url-template.ts'

/**
 * Calls with a method other than GET may change something, so they require confirmation unless an admin decided otherwise for this
 * method and URL. `record` is the tool after the change.
 */
export function resolveConfirmation(record: StoredApiTool, input: ApiToolInput, current: StoredApiTool | undefined): boolean {
  if (input.requires_confirmation !== undefined) return input.requires_confirmation
  // A patch with null restores the default.
  const previous = 'requires_confirmation' in input ? undefined : current
  if (previous && !hasNewRequest(previous, record)) return previous.requires_confirmation
  return previous?.requires_confirmation || record.method !== 'GET'
}

export const hasNewRequest = (current: StoredApiTool, { method, url }: Pick<StoredApiTool, 'method' | 'url'>): boolean =>
  current.method !== method || current.url !== url

/** `record` is the tool after the change. */
export function checkPermissions(record: StoredApiTool, input: ApiToolInput, { caller, current }: PrepareContext<StoredApiTool>): void {
  if (input.allow_private_network && !current?.allow_private_network) requireAdmin(caller, 'give a tool access to the private network')
  const isAllowed = current && !current.requires_confirmation && !hasNewRequest(current, record)
  if (record.method !== 'GET' && !record.requires_confirmation && !isAllowed)
    requireAdmin(caller, `allow ${record.method} requests without confirmation`)
  if (current === undefined || caller.role === 'admin') return
  if (current.allow_private_network && !record.allow_private_network) requireAdmin(caller, 'revoke access to the private network')
  const use = validateChange(current, record)
  if (use === undefined) return
  if (current.allow_private_network) requireAdmin(caller, `change ${use} of a tool with access to the private network`)
  // A caller who knows the secrets could create the same tool. For another server, every caller must send them.
  const missing = listSecretFields(current).filter((field) => input[field] === undefined)
  if (missing.length > 0 && use !== 'the server')
    throw new CadreError('FORBIDDEN', `Only an admin may change ${use} of a tool with secrets, unless the secrets are sent again.`, {
      hint: `Send ${missing.join(' and ')} too, or use a token with the role admin.`,
    })
}

function validateChange(current: StoredApiTool, record: StoredApiTool): string | undefined {
  if (checkUrlTemplate(current.url) !== checkUrlTemplate(record.url)) return 'the server'
  if (current.method !== record.method) return 'the method'
  return current.requires_confirmation && !record.requires_confirmation ? 'requires_confirmation' : undefined
}
