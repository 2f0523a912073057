/** Creates and changes access tokens. */
import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { type TokenCreate, type TokenCreated, tokens } from '../../src/contract/families/tokens.ts'
import type { ChangeContext } from '../core/caller.ts'
import { type FamilyInput, Resource } from '../crud/resource.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader } from '../store/database.ts'
import { countOtherAdmins, type StoredToken, tokenRecords } from './store.ts'
import { createTokenAuthenticator, hashSecret, type TokenAuthenticator } from './token-authenticator.ts'

type TokenInput = FamilyInput<typeof tokens>

export const createTokenSecret = (): string => `cadre_${randomBytes(32).toString('base64url')}`

export class TokensService extends Resource<StoredToken, TokenInput> {
  readonly authenticator: TokenAuthenticator

  constructor(dependencies: Shared<'database' | 'cluster' | 'clock'>) {
    const { database, clock } = dependencies
    super(database, tokens, tokenRecords, {
      prepare: async (record, given, { transaction, current }) => {
        if (record.role === 'member' && record.user_id === null)
          throw createValidationError(
            'user_id',
            'is required for the role member',
            'It determines whose conversations the token can access.',
          )
        // The schema accepts leap seconds, JavaScript does not.
        if (given.expires_at && Number.isNaN(Date.parse(given.expires_at))) throw createValidationError('expires_at', 'is not a valid time')
        // An expired token can be sent back as it was read.
        if (given.expires_at && given.expires_at !== current?.expires_at && Date.parse(given.expires_at) <= clock.now())
          throw createValidationError('expires_at', 'must be in the future')
        if (current && given.expires_at) await requireOtherAdmin(transaction, current)
        return { ...record, expires_at: record.expires_at && new Date(record.expires_at).toISOString() }
      },
      beforeRemove: requireOtherAdmin,
    })
    this.authenticator = createTokenAuthenticator(dependencies)
  }

  /** Creates a token and returns its secret in this response only. */
  async createWithSecret(
    change: ChangeContext,
    input: Static<typeof TokenCreate>,
    secret = createTokenSecret(),
  ): Promise<Static<typeof TokenCreated>> {
    return this.create(change, { ...input, hash: hashSecret(secret) } as TokenInput, { token: secret })
  }

  override async update(...change: Parameters<Resource<StoredToken, TokenInput>['update']>): Promise<StoredToken> {
    return super.update(...change).finally(() => this.authenticator.forgetAll())
  }

  override async remove(change: ChangeContext, id: string, force = false): Promise<string> {
    // Also on an error: the change may have been written before the disk failed.
    return super.remove(change, id, force).finally(() => this.authenticator.forgetAll())
  }
}

async function requireOtherAdmin(reader: DatabaseReader, { id, role, expires_at }: StoredToken): Promise<void> {
  if (role !== 'admin' || expires_at !== null || (await countOtherAdmins(reader, id)) > 0) return
  throw new CadreError('CONFLICT', 'This is the last admin token without an expiry.', {
    hint: 'Create another admin token that does not expire first.',
  })
}
