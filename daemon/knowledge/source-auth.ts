/** What a knowledge source proves itself with: sealed when it is kept, opened when it is synchronized, and bound to what it was given for. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { KnowledgeSourceCreate, KnowledgeSourceUpdate, SourceAuth } from '../../src/contract/families/knowledge-sources.ts'
import { removeUrlCredentials, splitUrlCredentials } from '../../src/contract/url-credentials.ts'
import type { Caller } from '../core/caller.ts'
import type { Logger } from '../logging/logger.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database } from '../store/database.ts'
import { findSourcesWithLogins, type StoredSource, setSecureDelete, sourceRecords } from './store.ts'

export type SourceInput = Static<typeof KnowledgeSourceCreate> | Static<typeof KnowledgeSourceUpdate>

export function openAuth(vault: Vault, { id, auth, secrets }: Pick<StoredSource, 'id' | 'auth' | 'secrets'>): SourceAuth {
  const parts = Object.entries(JSON.parse(secrets ?? '{}') as Record<string, string>)
  return { ...auth, ...Object.fromEntries(parts.map(([name, part]) => [name, vault.open(part, getSealContext(id, name))])) } as SourceAuth
}

/** The record with what is given sealed into it, or with what it had. */
export function applyAuth(
  vault: Vault,
  record: StoredSource,
  given: SourceInput,
  caller: Caller,
  current: StoredSource | undefined,
): StoredSource {
  const { auth, secrets } = current ?? { auth: { type: 'none' as const }, secrets: null }
  const next = given.auth === undefined ? { ...record, auth, secrets } : sealAuth(vault, record, given.auth)
  if (next.auth.type === 'none') return next
  const repository = getRepository(next)
  if (!/^https?:/i.test(repository))
    throw createValidationError(
      'auth',
      'is for repositories at http and https addresses',
      'Leave it out, or set {"type": "none"}; ssh proves itself with its own keys.',
    )
  // Not only on another server: what it opens there is more than what somebody was given it for.
  if (current && given.auth === undefined && getRepository(current) !== repository && caller.role !== 'admin')
    throw new CadreError('FORBIDDEN', 'Only an admin may change the repository of a source with a login, unless that is given anew.', {
      hint: 'Send auth along, or use a token with the role admin.',
    })
  return next
}

/** Seals what older versions kept in the address of a repository. */
export async function sealLogins(database: Database, vault: Vault, logger: Logger): Promise<void> {
  const ids = await findSourcesWithLogins(database)
  if (ids.length === 0) return
  if (vault.location === 'locked')
    return void logger.warn({ sources: ids }, 'logins in addresses of repositories cannot be sealed while the vault is locked')
  await database.write(async (transaction) => {
    await setSecureDelete(transaction, true)
    for (const id of ids) {
      const source = await sourceRecords.get(transaction, id)
      if (!source) continue
      const repository = getRepository(source)
      if (removeUrlCredentials(repository) === repository) continue
      const found = splitUrlCredentials(repository)
      const plain = { ...source, configuration: { ...source.configuration, repository: removeUrlCredentials(repository) } }
      // ssh never used the password that its address held.
      await sourceRecords.update(transaction, found ? sealAuth(vault, plain, { type: 'basic', ...found.login }) : plain)
      logger.info({ source: id }, 'the login in the address of its repository is sealed now')
    }
    await setSecureDelete(transaction, false)
  })
}

/** Each value by itself, so that each is known to what keeps secrets out of the log. */
function sealAuth(vault: Vault, record: StoredSource, { type, ...values }: SourceAuth): StoredSource {
  const parts = Object.entries(values as Record<string, string>).map(([name, value]) => [
    name,
    vault.seal(value, getSealContext(record.id, name)),
  ])
  return { ...record, auth: { type }, secrets: type === 'none' ? null : JSON.stringify(Object.fromEntries(parts)) }
}

const getSealContext = (id: string, name: string): string => `${id}/auth/${name}`

const getRepository = ({ configuration }: StoredSource): string => String(configuration.repository ?? '')
