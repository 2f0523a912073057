/** Secrets of API tools: encrypted in the database, decrypted for requests, redacted from responses. */
import type { Static } from 'typebox'
import { createValidationError } from '../../src/contract/errors.ts'
import type { ApiToolCreate, ApiToolSecrets, ApiToolUpdate } from '../../src/contract/families/api-tools.ts'
import { redactCredentials } from '../outbound/authorization.ts'
import { CONNECTION_HEADERS } from '../outbound/parse-url.ts'
import { Redactor } from '../secrets/redactor.ts'
import type { Vault } from '../secrets/vault.ts'
import type { StoredApiTool } from './store.ts'

export type ApiToolInput = Static<typeof ApiToolCreate> | Static<typeof ApiToolUpdate>

/** Names of headers whose values are probably keys. */
const SENSITIVE_HEADER = /auth|key|token|secret|password|cookie|session|signature|credential/i

export function openSecrets(vault: Vault, { id, secrets }: Pick<StoredApiTool, 'id' | 'secrets'>): ApiToolSecrets {
  return secrets === null ? { headers: {}, auth: { type: 'none' } } : JSON.parse(vault.open(secrets, `${id}/secrets`))
}

/** Merges new secrets with the existing ones and encrypts them. */
export function sealSecrets(vault: Vault, record: StoredApiTool, input: ApiToolInput, current: StoredApiTool | undefined): StoredApiTool {
  const { header_names, auth, secrets } = current ?? { header_names: [], auth: { type: 'none' as const }, secrets: null }
  const existing = { header_names, auth, secrets }
  const { headers: _, ...rest } = record as StoredApiTool & { headers?: unknown }
  if (input.headers === undefined && input.auth === undefined) return { ...rest, ...existing }
  const currentSecrets = openSecrets(vault, { id: record.id, secrets })
  const next: ApiToolSecrets = { headers: input.headers ?? currentSecrets.headers, auth: input.auth ?? currentSecrets.auth }
  const refused = Object.keys(next.headers).find((name) => CONNECTION_HEADERS.includes(name.toLowerCase()))
  if (refused) throw createValidationError(`headers.${refused}`, 'is set by the HTTP client and cannot be changed')
  const empty = Object.keys(next.headers).length === 0 && next.auth.type === 'none'
  return {
    ...rest,
    header_names: Object.keys(next.headers),
    auth: next.auth.type === 'api_key' ? { type: 'api_key', name: next.auth.name, in: next.auth.in ?? 'header' } : { type: next.auth.type },
    secrets: empty ? null : vault.seal(JSON.stringify(next), `${record.id}/secrets`),
  }
}

/** Returns a function that redacts the tool's secrets. */
export function createRedaction({ auth, headers }: ApiToolSecrets, options: { headers: boolean }): (text: string) => string {
  const redactor = new Redactor()
  if (auth.type === 'api_key') redactor.add(auth.value)
  else if (auth.type !== 'none') redactCredentials(redactor, auth)
  if (options.headers)
    for (const [name, value] of Object.entries(headers))
      if (SENSITIVE_HEADER.test(name)) redactor.add(value.replace(/^(bearer|basic|token) +/i, ''))
  return (text) => redactor.redactKnown(text)
}
