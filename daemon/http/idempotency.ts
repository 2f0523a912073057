/** Idempotency-Key: the same key and body get the same answer and one effect, for a day. */
import { hash } from 'node:crypto'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { Route } from '../../src/contract/route.ts'
import type { Caller } from '../core/caller.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database, Transaction } from '../store/database.ts'

const RETENTION_MS = 24 * 60 * 60 * 1000
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

interface StoredResponse {
  fingerprint: string
  reply: string
}

export interface Attempt {
  /** The answer of the first time, if there was one. */
  previous: { reply: unknown } | undefined
  /** Keeps the answer, in the transaction of the effect where the handler can. */
  remember(transaction: Transaction, reply: unknown): Promise<void>
  finish(reply: unknown): Promise<void>
  release(): void
}

export class Idempotency {
  readonly #database: Database
  readonly #vault: Vault
  readonly #inFlight = new Map<string, Promise<void>>()

  constructor(database: Database, vault: Vault) {
    this.#database = database
    this.#vault = vault
  }

  async begin(caller: Caller, route: Route, key: string, request: { url: string; body: unknown }): Promise<Attempt> {
    if (!KEY_PATTERN.test(key)) throw createValidationError('Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
    const slot = `${caller.tokenId} ${key}`
    while (this.#inFlight.has(slot)) await this.#inFlight.get(slot)
    let done = () => {}
    this.#inFlight.set(
      slot,
      new Promise((resolve) => {
        done = resolve
      }),
    )
    const end = () => {
      this.#inFlight.delete(slot)
      done()
    }
    try {
      return await this.#attempt(
        caller,
        route,
        key,
        hash('sha256', JSON.stringify([route.id, request.url, request.body ?? null]), 'hex'),
        end,
      )
    } catch (error) {
      end()
      throw error
    }
  }

  async #attempt(caller: Caller, route: Route, key: string, fingerprint: string, end: () => void): Promise<Attempt> {
    const since = new Date(Date.now() - RETENTION_MS).toISOString()
    const kept = await this.#database.get<StoredResponse>(
      'SELECT fingerprint, reply FROM idempotency WHERE token_id = ? AND key = ? AND created_at > ?',
      [caller.tokenId, key, since],
    )
    if (kept && kept.fingerprint !== fingerprint)
      throw new CadreError('CONFLICT', 'This Idempotency-Key was used for another request.', {
        hint: 'Use a new key for each request; repeat one only to repeat the very same request.',
      })
    const context = `idempotency/${caller.tokenId}/${key}`
    let remembered = kept !== undefined
    const remember = async (transaction: Transaction, reply: unknown) => {
      const text = JSON.stringify(reply ?? null)
      await transaction.run('DELETE FROM idempotency WHERE created_at <= ?', [since])
      await transaction.run('INSERT OR REPLACE INTO idempotency (token_id, key, fingerprint, reply, created_at) VALUES (?, ?, ?, ?, ?)', [
        caller.tokenId,
        key,
        fingerprint,
        route.revealsSecret ? this.#vault.seal(text, context) : text,
        new Date().toISOString(),
      ])
      remembered = true
    }
    return {
      previous: kept && { reply: JSON.parse(route.revealsSecret ? this.#vault.open(kept.reply, context) : kept.reply) },
      remember,
      finish: async (reply) => {
        if (!remembered) await this.#database.write((transaction) => remember(transaction, reply))
      },
      release: end,
    }
  }
}
