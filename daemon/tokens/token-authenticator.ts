/** Finds out who sent a request: the token, role and user that belong to a secret. */
import { hash } from 'node:crypto'
import type { Clock } from '../async/clock.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Caller } from '../core/caller.ts'
import type { Database } from '../store/database.ts'
import { tokenRecords, updateLastUsed } from './store.ts'

interface CachedToken {
  caller: Caller
  expiresAt: number
  readAt: number
  usedMinute: number
}

const MINUTE_MS = 60_000

export const hashSecret = (secret: string): string => hash('sha256', secret, 'hex')

export class TokenAuthenticator {
  /** By secret, so that only the first request of a token computes its hash and reads the database. */
  #cache = new Map<string, CachedToken>()
  readonly #database: Database
  readonly #cluster: Cluster
  readonly #clock: Clock

  constructor(database: Database, cluster: Cluster, clock: Clock) {
    this.#database = database
    this.#cluster = cluster
    this.#clock = clock
  }

  /** Returns undefined if the token is unknown or has expired. */
  async authenticate(secret: string): Promise<Caller | undefined> {
    const now = this.#clock.now()
    const known = this.#cache.get(secret)
    const cached = known && this.#isCurrent(known) ? known : await this.#find(secret)
    if (!cached || cached.expiresAt <= now) return undefined
    const minute = Math.floor(now / MINUTE_MS)
    if (cached.usedMinute !== minute) {
      cached.usedMinute = minute
      // Not awaited, and errors are ignored: reading still works on a full disk.
      updateLastUsed(this.#database, cached.caller.tokenId, new Date(minute * MINUTE_MS).toISOString()).catch(() => undefined)
    }
    return cached.caller
  }

  async findId(secret: string | undefined): Promise<string | undefined> {
    return secret === undefined ? undefined : (await this.#find(secret))?.caller.tokenId
  }

  /** Replaces the cache: a lookup that read the database before the change would otherwise add the old token again. */
  async forgetAll(): Promise<void> {
    this.#cache = new Map()
    await this.#cluster.waitForCaches()
  }

  /** Another daemon may have changed or deleted the token. */
  #isCurrent({ readAt }: CachedToken): boolean {
    return performance.now() - readAt < this.#cluster.maxCacheAgeMs
  }

  async #find(secret: string): Promise<CachedToken | undefined> {
    const cache = this.#cache
    const [record] = await tokenRecords.find(this.#database, { hash: hashSecret(secret) })
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
