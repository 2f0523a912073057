/** Binds the secrets of an API tool to the server and path that they were set for. */
import { CadreError } from '../../src/contract/errors.ts'
import type { ApiToolInput, StoredApiTool } from './store.ts'
import { isWithin } from './url-template.ts'

/** Headers that are never secret. All other values are treated as secrets, because their names do not tell. */
const PUBLIC_HEADER = /^(accept|accept-.+|content-type|user-agent|.+-version)$/i

export const isSecretHeader = (name: string): boolean => !PUBLIC_HEADER.test(name)

/** Throws if the tool would send stored secrets to another server or path: an editor could read them from the response there. */
export function checkSecretScope(record: StoredApiTool, input: ApiToolInput, current: StoredApiTool | undefined): void {
  if (!current || isWithin(record.url, current.url)) return
  const kept = listSecretFields(current).flatMap((field) => (input[field] === undefined ? listNames(current, field) : []))
  if (kept.length === 0) return
  const scope = current.url.replace(/[?#].*$/s, '')
  throw new CadreError('VALIDATION_ERROR', `${kept.join(', ')}: must be sent again, because the value was set for ${scope}.`, {
    details: kept.map((field) => ({ field, problem: `must be sent again, because the value was set for ${scope}` })),
    hint: 'Send the values with the new url, or remove them: "headers": {}, "auth": {"type": "none"}.',
  })
}

export function listSecretFields({ header_names, auth }: StoredApiTool): ('headers' | 'auth')[] {
  return [...(header_names.some(isSecretHeader) ? ['headers' as const] : []), ...(auth.type === 'none' ? [] : ['auth' as const])]
}

const listNames = ({ header_names }: StoredApiTool, field: 'headers' | 'auth'): string[] =>
  field === 'auth' ? ['auth'] : header_names.filter(isSecretHeader).map((name) => `headers.${name}`)
