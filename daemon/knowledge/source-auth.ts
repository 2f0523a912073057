/** Credentials of knowledge sources: sealed in the database, opened for a sync and bound to their repository. */

import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { KnowledgeSourceCreate, KnowledgeSourceUpdate } from '../../src/contract/families/knowledge-sources.ts'
import type { SourceAuth } from '../../src/contract/schemas/source-configurations.ts'
import { removeUrlCredentials, splitUrlCredentials } from '../../src/contract/url-credentials.ts'
import type { Caller } from '../core/caller.ts'
import { overwriteDeleted } from '../core/overwrite-deleted.ts'
import type { Logger } from '../logging/logger.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database } from '../store/database.ts'
import { findSourcesWithLogins, type StoredSource, sourceRecords } from './store.ts'

export type SourceInput = Static<typeof KnowledgeSourceCreate> | Static<typeof KnowledgeSourceUpdate>

export function openAuth(vault: Vault, { id, auth, secrets }: Pick<StoredSource, 'id' | 'auth' | 'secrets'>): SourceAuth {
  const sealed = Object.entries(JSON.parse(secrets ?? '{}') as Record<string, string>)
  const values = sealed.map(([name, value]) => [name, vault.open(value, getSealContext(id, name))])
  return { ...auth, ...Object.fromEntries(values) } as SourceAuth
}

/** Returns the record with the sealed credentials of the input, or with its current ones if the input has none. */
export function applyAuth(
  vault: Vault,
  record: StoredSource,
  input: SourceInput,
  caller: Caller,
  current: StoredSource | undefined,
): StoredSource {
  const { auth, secrets } = current ?? { auth: { type: 'none' as const }, secrets: null }
  const next = input.auth === undefined ? { ...record, auth, secrets } : sealAuth(vault, record, input.auth)
  if (next.auth.type === 'none') return next
  const repository = getRepository(next)
  if (!/^https?:/i.test(repository))
    throw createValidationError(
      'auth',
      'is only supported for repositories with an http or https address',
      'Omit auth or set {"type": "none"}; ssh uses its own keys.',
    )
  // Also on the same server: the credentials may give access to repositories that the editor must not read.
  if (current && input.auth === undefined && getRepository(current) !== repository && caller.role !== 'admin')
    throw new CadreError('FORBIDDEN', 'Only an admin may change the repository of a source without sending its credentials again.', {
      hint: 'Send auth, too, or use a token with the role admin.',
    })
  return next
}

/** Seals credentials that older versions stored in repository URLs. */
export async function sealLogins(database: Database, vault: Vault, logger: Logger): Promise<void> {
  const ids = await findSourcesWithLogins(database)
  if (ids.length === 0) return
  if (vault.location === 'locked')
    return void logger.warn({ sources: ids }, 'cannot seal credentials in repository URLs while the vault is locked')
  await database.write((transaction) =>
    overwriteDeleted(transaction, async () => {
      for (const id of ids) {
        const source = await sourceRecords.get(transaction, id)
        if (!source) continue
        const repository = getRepository(source)
        if (removeUrlCredentials(repository) === repository) continue
        const found = splitUrlCredentials(repository)
        const plain = { ...source, configuration: { ...source.configuration, repository: removeUrlCredentials(repository) } }
        // ssh ignores a password in the URL.
        await sourceRecords.update(transaction, found ? sealAuth(vault, plain, { type: 'basic', ...found.login }) : plain)
        logger.info({ source: id }, 'sealed the credentials in the repository URL')
      }
    }),
  )
}

/** Seals each value separately so that the log redactor knows each of them. */
function sealAuth(vault: Vault, record: StoredSource, { type, ...values }: SourceAuth): StoredSource {
  const entries = Object.entries(values as Record<string, string>)
  const sealed = entries.map(([name, value]) => [name, vault.seal(value, getSealContext(record.id, name))])
  return { ...record, auth: { type }, secrets: type === 'none' ? null : JSON.stringify(Object.fromEntries(sealed)) }
}

const getSealContext = (id: string, name: string): string => `${id}/auth/${name}`

const getRepository = ({ configuration }: StoredSource): string => String(configuration.repository ?? '')
