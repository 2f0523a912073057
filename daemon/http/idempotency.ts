/** Idempotency-Key: repeated requests with the same key and body return the first response for 24 hours. */
import { hash } from 'node:crypto'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { Route } from '../../src/contract/route.ts'
import { waitForLease } from '../cluster/hold-lease.ts'
import type { Caller } from '../core/caller.ts'
import { stringifySorted } from '../core/stringify-sorted.ts'
import type { Shared } from '../shared-services.ts'
import { runLater, type Transaction } from '../store/database.ts'
import { isStorageFullError } from '../store/database-errors.ts'

const RETENTION_MS = 24 * 60 * 60 * 1000
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

interface StoredResponse {
  fingerprint: string
  reply: string
}

interface Attempt {
  /** The stored response of the first request. */
  previous: { response: unknown } | undefined
  /** Stores the response, if possible in the transaction of the change. */
  remember(transaction: Transaction, response: unknown): Promise<void>
  finish(response: unknown): Promise<void>
  release(): void
}

export function createIdempotency({ database, vault, cluster: { leases } }: Shared<'database' | 'vault' | 'cluster'>) {
  const inFlight = new Map<string, Promise<void>>()

  async function begin(caller: Caller, route: Route, key: string, request: { url: string; body: unknown }): Promise<Attempt> {
    if (!KEY_PATTERN.test(key)) throw createValidationError('Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
    const slot = `${caller.tokenId} ${key}`
    while (inFlight.has(slot)) await inFlight.get(slot)
    let resolve = () => {}
    inFlight.set(slot, new Promise((resolved) => (resolve = resolved)))
    const lease = `idempotency/${slot}`
    const release = () => {
      // Before the next request of this key claims it. If it fails, the lease ends with this daemon.
      leases.release(lease).catch(() => undefined)
      inFlight.delete(slot)
      resolve()
    }
    // Bodies that differ only in the order of their fields are the same request. The parser limits the depth of bodies.
    const fingerprint = hash('sha256', stringifySorted([route.id, request.url, request.body ?? null]), 'hex')
    try {
      await waitForLease(leases, lease)
      return { ...(await attempt(caller, route, key, fingerprint)), release }
    } catch (error) {
      release()
      throw error
    }
  }

  async function attempt(caller: Caller, route: Route, key: string, fingerprint: string): Promise<Omit<Attempt, 'release'>> {
    const since = new Date(Date.now() - RETENTION_MS).toISOString()
    const stored = await database.get<StoredResponse>(
      'SELECT fingerprint, reply FROM idempotency WHERE token_id = ? AND key = ? AND created_at > ?',
      [caller.tokenId, key, since],
    )
    if (stored && stored.fingerprint !== fingerprint)
      throw new CadreError('CONFLICT', 'This Idempotency-Key was used for a different request.', {
        hint: 'Use a new key for each request. Reuse a key only to repeat the same request.',
      })
    const isSealed = Boolean(route.revealsSecret || route.isConfidential)
    const context = `idempotency/${caller.tokenId}/${key}`
    let isStored = stored !== undefined
    const remember = async (transaction: Transaction, response: unknown) => {
      const text = JSON.stringify(response ?? null)
      await runLater(transaction, 'DELETE FROM idempotency WHERE created_at <= ?', [since])
      await runLater(
        transaction,
        'INSERT OR REPLACE INTO idempotency (token_id, key, fingerprint, reply, created_at) VALUES (?, ?, ?, ?, ?)',
        [caller.tokenId, key, fingerprint, isSealed ? vault.seal(text, context) : text, new Date().toISOString()],
      )
      isStored = true
    }
    return {
      previous: stored && { response: JSON.parse(isSealed ? vault.open(stored.reply, context) : stored.reply) },
      remember,
      finish: async (response) => {
        if (isStored) return
        try {
          await database.write((transaction) => remember(transaction, response))
        } catch (error) {
          // A search changes nothing, so it can be repeated.
          if (route.access !== 'read' || !isStorageFullError(error)) throw error
        }
      },
    }
  }

  return { begin }
}

export type Idempotency = ReturnType<typeof createIdempotency>
