/** Secrets of MCP servers: encrypted in the database, decrypted for connections, redacted from results. */
import { CadreError } from '../../src/contract/errors.ts'
import type { McpServerSecrets } from '../../src/contract/families/mcp/mcp-servers.ts'
import { checkHeaderNames } from '../outbound/parse-url.ts'
import { Redactor } from '../secrets/redactor.ts'
import type { Vault } from '../secrets/vault.ts'
import type { McpServerInput, StoredMcpServer } from './store.ts'

const SECRET_FIELDS = ['env', 'headers', 'auth'] as const
const NO_SECRETS: McpServerSecrets = { env: {}, headers: {}, auth: { type: 'none' } }

export function openSecrets(vault: Vault, { id, secrets }: Pick<StoredMcpServer, 'id' | 'secrets'>): McpServerSecrets {
  return secrets === null ? NO_SECRETS : JSON.parse(vault.open(secrets, `${id}/secrets`))
}

export const hasNewTarget = (current: StoredMcpServer, record: StoredMcpServer): boolean =>
  current.command !== record.command || current.url !== record.url || JSON.stringify(current.args) !== JSON.stringify(record.args)

/** Throws if another program or URL would get the stored secrets: an editor could read them there. */
export function checkSecretScope(record: StoredMcpServer, input: McpServerInput, current: StoredMcpServer | undefined): void {
  if (!current || !hasNewTarget(current, record)) return
  const isKept = { env: current.env_names.length > 0, headers: current.header_names.length > 0, auth: current.auth.type !== 'none' }
  const kept = SECRET_FIELDS.filter((field) => isKept[field] && input[field] === undefined)
  if (kept.length === 0) return
  const problem = 'must be sent again, because the command or the url changes'
  throw new CadreError('VALIDATION_ERROR', `${kept.join(', ')}: ${problem}.`, {
    details: kept.map((field) => ({ field, problem })),
    hint: 'Send the values too, or remove them: "env": {}, "headers": {}, "auth": {"type": "none"}.',
  })
}

/** Merges new secrets with the existing ones and encrypts them. Signing in is necessary again for another target. */
export function sealSecrets(
  vault: Vault,
  record: StoredMcpServer,
  input: McpServerInput,
  current: StoredMcpServer | undefined,
): StoredMcpServer {
  const { env: _, headers: __, ...rest } = record as StoredMcpServer & { env?: unknown; headers?: unknown }
  const existing = current ?? { env_names: [], header_names: [], auth: { type: 'none' as const }, secrets: null, oauth: null }
  const isSignedIn = current !== undefined && !hasNewTarget(current, record) && input.auth === undefined
  const oauth = isSignedIn ? existing.oauth : null
  const { env_names, header_names, auth, secrets } = existing
  if (SECRET_FIELDS.every((field) => input[field] === undefined)) return { ...rest, env_names, header_names, auth, secrets, oauth }
  const known = openSecrets(vault, { id: record.id, secrets })
  const next: McpServerSecrets = { env: input.env ?? known.env, headers: input.headers ?? known.headers, auth: input.auth ?? known.auth }
  checkHeaderNames(next.headers)
  const isEmpty = Object.keys({ ...next.env, ...next.headers }).length === 0 && next.auth.type === 'none'
  return {
    ...rest,
    env_names: Object.keys(next.env),
    header_names: Object.keys(next.headers),
    auth: describeAuth(next.auth),
    secrets: isEmpty ? null : vault.seal(JSON.stringify(next), `${record.id}/secrets`),
    oauth,
  }
}

function describeAuth(auth: McpServerSecrets['auth']): StoredMcpServer['auth'] {
  if (auth.type !== 'oauth') return { type: auth.type }
  const { client_secret: _, ...shown } = auth
  return shown
}

export function createRedactor({ env, headers, auth }: McpServerSecrets): Redactor {
  const redactor = new Redactor()
  const credentials = auth.type === 'bearer' ? [auth.token] : auth.type === 'oauth' ? [auth.client_secret ?? ''] : []
  for (const secret of [...Object.values(env), ...Object.values(headers), ...credentials]) redactor.add(secret)
  return redactor
}
