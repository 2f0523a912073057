/** Finds out who sent a request: the token, role and user that belong to a secret. */
import { hash } from 'node:crypto'
import type { Caller } from '../core/caller.ts'
import type { Shared } from '../shared-services.ts'
import { tokenRecords, updateLastUsed } from './store.ts'

interface CachedToken {
  caller: Caller
  expiresAt: number
  readAt: number
  usedMinute: number
}

const MINUTE_MS = 60_000

export const hashSecret = (secret: string): string => hash('sha256', secret, 'hex')

export function createTokenAuthenticator({ database, cluster, clock }: Shared<'database' | 'cluster' | 'clock'>) {
  /** By secret, so that only the first request of a token computes its hash and reads the database. */
  let cache = new Map<string, CachedToken>()

  /** Returns undefined if the token is unknown or has expired. */
  async function authenticate(secret: string): Promise<Caller | undefined> {
    const now = clock.now()
    const known = cache.get(secret)
    const cached = known && isCurrent(known) ? known : await find(secret)
    if (!cached || cached.expiresAt <= now) return undefined
    const minute = Math.floor(now / MINUTE_MS)
    if (cached.usedMinute !== minute) {
      cached.usedMinute = minute
      // Not awaited, and errors are ignored: reading still works on a full disk.
      updateLastUsed(database, cached.caller.tokenId, new Date(minute * MINUTE_MS).toISOString()).catch(() => undefined)
    }
    return cached.caller
  }

  async function findId(secret: string | undefined): Promise<string | undefined> {
    return secret === undefined ? undefined : (await find(secret))?.caller.tokenId
  }

  /** Replaces the cache: a lookup that read the database before the change would otherwise add the old token again. */
  async function forgetAll(): Promise<void> {
    cache = new Map()
    await cluster.waitForCaches()
  }

  /** Another daemon may have changed or deleted the token. */
  function isCurrent({ readAt }: CachedToken): boolean {
    return performance.now() - readAt < cluster.maxCacheAgeMs
  }

  async function find(secret: string): Promise<CachedToken | undefined> {
    const current = cache
    const [record] = await tokenRecords.find(database, { hash: hashSecret(secret) })
    if (!record) {
      current.delete(secret)
      return undefined
    }
    const cached: CachedToken = {
      caller: { tokenId: record.id, role: record.role, userId: record.user_id },
      expiresAt: record.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(record.expires_at),
      readAt: performance.now(),
      usedMinute: current.get(secret)?.usedMinute ?? 0,
    }
    current.set(secret, cached)
    return cached
  }

  return { authenticate, findId, forgetAll }
}

export type TokenAuthenticator = ReturnType<typeof createTokenAuthenticator>
