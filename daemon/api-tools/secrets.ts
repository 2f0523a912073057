/** Secrets of API tools: encrypted in the database, decrypted for requests, redacted from responses. */
import type { ApiToolSecrets } from '../../src/contract/families/api-tools.ts'
import { redactCredentials } from '../outbound/authorization.ts'
import { checkHeaderNames } from '../outbound/parse-url.ts'
import { Redactor } from '../secrets/redactor.ts'
import type { Vault } from '../secrets/vault.ts'
import { isSecretHeader } from './secret-scope.ts'
import type { ApiToolInput, StoredApiTool } from './store.ts'

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
  checkHeaderNames(next.headers)
  const empty = Object.keys(next.headers).length === 0 && next.auth.type === 'none'
  return {
    ...rest,
    header_names: Object.keys(next.headers),
    auth: next.auth.type === 'api_key' ? { type: 'api_key', name: next.auth.name, in: next.auth.in ?? 'header' } : { type: next.auth.type },
    secrets: empty ? null : vault.seal(JSON.stringify(next), `${record.id}/secrets`),
  }
}

export function createRedactor({ auth, headers }: ApiToolSecrets): Redactor {
  const redactor = new Redactor()
  if (auth.type === 'api_key') redactor.add(auth.value)
  else if (auth.type !== 'none') redactCredentials(redactor, auth)
  for (const [name, value] of Object.entries(headers))
    if (isSecretHeader(name)) for (const secret of listHeaderSecrets(value)) redactor.add(secret)
  return redactor
}

/** A server may repeat only a part of a header: without the scheme, a single cookie, or the decoded password. */
function listHeaderSecrets(value: string): string[] {
  const credentials = value.replace(/^(bearer|basic|token) +/i, '')
  const fields = credentials.split(/[;,] */).map((field) => field.replace(/^[^=]*=/, ''))
  const [, password = ''] = /:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? []
  return [credentials, ...fields, /^basic /i.test(value) ? password : '']
}
