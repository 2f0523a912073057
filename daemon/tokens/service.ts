/** Access tokens: creation, authentication and expiry. */
import { hash, randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { type TokenCreate, type TokenCreated, tokens } from '../../src/contract/families/tokens.ts'
import type { Clock } from '../async/clock.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import { type FamilyInput, Resource } from '../crud/resource.ts'
import type { Database, DatabaseReader } from '../store/database.ts'
import { countOtherAdmins, type StoredToken, tokenRecords, updateLastUsed } from './store.ts'

type TokenInput = FamilyInput<typeof tokens>

interface CachedToken {
  caller: Caller
  expiresAt: number
  readAt: number
  usedMinute: number
}

const MINUTE_MS = 60_000
export const createTokenSecret = (): string => `cadre_${randomBytes(32).toString('base64url')}`
const hashSecret = (secret: string) => hash('sha256', secret, 'hex')

export class TokensService extends Resource<StoredToken, TokenInput> {
  /** By secret, so that only the first request of a token computes its hash and reads the database. */
  #cache = new Map<string, CachedToken>()
  readonly #cluster: Cluster
  readonly #clock: Clock

  constructor(database: Database, cluster: Cluster, clock: Clock) {
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
    this.#cluster = cluster
    this.#clock = clock
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
    return super.update(...change).finally(() => this.#clearCache())
  }

  override async remove(change: ChangeContext, id: string, force = false): Promise<string> {
    // Also on an error: the change may have been written before the disk failed.
    return super.remove(change, id, force).finally(() => this.#clearCache())
  }

  async authenticate(secret: string): Promise<Caller | undefined> {
    const now = this.#clock.now()
    const known = this.#cache.get(secret)
    const cached = known && this.#isCurrent(known) ? known : await this.#find(secret)
    if (!cached || cached.expiresAt <= now) return undefined
    const minute = Math.floor(now / MINUTE_MS)
    if (cached.usedMinute !== minute) {
      cached.usedMinute = minute
      // Not awaited, and errors are ignored: reading still works on a full disk.
      updateLastUsed(this.database, cached.caller.tokenId, new Date(minute * MINUTE_MS).toISOString()).catch(() => undefined)
    }
    return cached.caller
  }

  async findId(secret: string | undefined): Promise<string | undefined> {
    return secret === undefined ? undefined : (await this.#find(secret))?.caller.tokenId
  }

  /** Another daemon may have changed or deleted the token. */
  #isCurrent({ readAt }: CachedToken): boolean {
    return performance.now() - readAt < this.#cluster.maxCacheAgeMs
  }

  /** Replaces the cache: a lookup that read the database before the change would otherwise add the old token again. */
  async #clearCache(): Promise<void> {
    this.#cache = new Map()
    await this.#cluster.waitForCaches()
  }

  async #find(secret: string): Promise<CachedToken | undefined> {
    const cache = this.#cache
    const [record] = await this.records.find(this.database, { hash: hashSecret(secret) })
    if (!record) {
      cache.delete(secret)
      return undefined
    }
    const cached: CachedToken = {
      caller: { tokenId: record.id, role: record.role, userId: record.user_id },
      expiresAt: record.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(record.expires_at),
      readAt: performance.now(),
      usedMinute: cache.get(secret)?.usedMinute ?? 0,
    }
    cache.set(secret, cached)
    return cached
  }
}

async function requireOtherAdmin(reader: DatabaseReader, { id, role, expires_at }: StoredToken): Promise<void> {
  if (role !== 'admin' || expires_at !== null || (await countOtherAdmins(reader, id)) > 0) return
  throw new CadreError('CONFLICT', 'This is the last admin token without an expiry.', {
    hint: 'Create another admin token that does not expire first.',
  })
}
